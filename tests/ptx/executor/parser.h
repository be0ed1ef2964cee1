// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once
// From words to an Image. Names have scopes: the module, a function, each pair of braces in it; labels too.
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "tests/ptx/executor/image.h"
#include "tests/ptx/executor/lexer.h"

namespace ashlar::ptx {

class Parser {
 public:
  explicit Parser(Image& image);
  void run();

 private:
  struct Family {  // %r<10>: names with numbers; count 0: the one name
    u32 first = 0, count = 0;
    u8 bits = 0;
    bool predicate = false;
  };
  struct Scope {
    int parent = -1;
    std::unordered_map<std::string_view, Family> registers;
    std::unordered_map<std::string_view, int> variables;
    std::unordered_map<std::string_view, u32> labels;
    std::unordered_map<std::string_view, std::vector<std::string_view>> targets;  // .branchtargets
    std::unordered_map<std::string_view, bool> prototypes;
  };
  struct Pending {  // a label that is not known yet
    u32 instr, operand;
    int scope;
    std::string_view name;
  };

  // words
  const Token& peek(std::size_t n = 0) const { return tokens_[at_ + n < tokens_.size() ? at_ + n : tokens_.size() - 1]; }
  const Token& next() { return tokens_[at_ + 1 < tokens_.size() ? at_++ : at_]; }
  bool accept(char c);
  void expect(char c);
  std::string_view expect_word(const char* what);
  u64 expect_number(const char* what);
  [[noreturn]] void fail(const std::string& what) const;

  // declarations (parser.cpp)
  void module_directive();
  void file();
  void location();
  void skip_line();
  void skip_braces();
  struct Type {
    T type = T::none;
    u64 align = 0, vector = 1;
  };
  Type type_words(const char* of);
  void variable(Space space, bool external, bool in_function);
  void initial(Variable& v, u64 element);
  void initial_value(Variable& v, u64 element);
  void function(bool entry, bool external);
  void parameters(Function& f, std::vector<Operand>& to, bool entry, int number);
  void tuning(Function& f);
  void alias();
  int function_number(std::string_view name);
  void layout();

  // bodies (body.cpp)
  void body(int number);
  void statement();
  void directive();
  void registers();
  void instruction();
  void skip_prototype();
  Operand operand();
  Operand operand_word();
  Operand address();
  Operand vector_of();
  Operand list();
  Operand pool(u64 value, Operand::Literal literal = Operand::kInteger, int variable = -1, int function = -1);
  bool find_register(std::string_view name, Operand& o) const;
  int find_variable(std::string_view name) const;
  u32 slot(u8 bits, u32 count);
  void resolve_labels();
  bool label_of(std::string_view name, int scope, u32& target) const;

  Image& m_;
  std::vector<Token> tokens_;
  std::size_t at_ = 0;
  std::vector<Scope> scopes_;
  int scope_ = 0;
  int function_ = -1;
  std::vector<Pending> pending_;
  std::unordered_map<std::string_view, int> functions_;
  std::unordered_map<u64, u32> constants_;  // of the pool
  std::unordered_map<std::string_view, u32> names_;
  u32 file_ = 0, line_ = 0;                  // of the source, by .loc
  std::vector<std::pair<int, u64>> shared_;  // variables of functions, by function
};

}  // namespace ashlar::ptx
