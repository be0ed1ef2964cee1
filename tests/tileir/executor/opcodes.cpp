// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "tests/tileir/executor/opcodes.h"

#include <algorithm>
#include <map>
#include <sstream>
#include <stdexcept>

#include "tests/tileir/executor/executor.h"

namespace ashlar::tileir {

namespace {

struct Line {  // since: the minor version; with ! behind it: known, and not executed
  Code code;
  const char *name, *since, *same, *layout;
};

const Line kLines[] = {
    {Code::kAbsF, "absf", "1", "f", "R1 o:x"},
    {Code::kAbsI, "absi", "1", "i", "R1 o:x"},
    {Code::kAddF, "addf", "1", "f", "R1 F:ftz round:rounding o:x o:y"},
    {Code::kAddI, "addi", "1", "i", "R1 over:overflow o:x o:y"},
    {Code::kAndI, "andi", "1", "i", "R1 o:x o:y"},
    {Code::kAssert, "assert", "1", "", "str:message o:x"},
    {Code::kAssume, "assume", "1", "", "R1 tagged:predicate o:x"},
    {Code::kAtomicCas, "atomic_cas_tko", "1", "",
     "R2 F:mask,token order:order scope:scope o:pointers o:compare o:value ?o:mask ?o:token"},
    {Code::kAtomicRmw, "atomic_rmw_tko", "1", "",
     "R2 F:mask,token order:order scope:scope rmw:mode o:pointers o:value ?o:mask ?o:token"},
    {Code::kBitcast, "bitcast", "1", "", "R1 o:x"},
    {Code::kBreak, "break", "1", "", "R*0 N V:values"},
    {Code::kBroadcast, "broadcast", "1", "", "R1 o:x"},
    {Code::kCat, "cat", "1", "", "R1 int:dim o:x o:y"},
    {Code::kCeil, "ceil", "1", "f", "R1 o:x"},
    {Code::kCmpF, "cmpf", "1", "", "R1 compare:predicate ordered:ordering o:x o:y"},
    {Code::kCmpI, "cmpi", "1", "", "R1 compare:predicate sign:signedness o:x o:y"},
    {Code::kConstant, "constant", "1", "", "R1 const:value"},
    {Code::kContinue, "continue", "1", "", "R*0 N V:values"},
    {Code::kCos, "cos", "1", "f", "R1 o:x"},
    {Code::kCosh, "cosh", "1", "f", "R1 o:x"},
    {Code::kDivF, "divf", "1", "f", "R1 F:ftz round:rounding o:x o:y"},
    {Code::kDivI, "divi", "1", "i", "R1 sign:signedness round:rounding o:x o:y"},
    {Code::kExp, "exp", "1", "f", "R1 round:rounding@3 o:x"},
    {Code::kExp2, "exp2", "1", "f", "R1 F:ftz o:x"},
    {Code::kExtI, "exti", "1", "", "R1 sign:signedness o:x"},
    {Code::kExtract, "extract", "1", "", "R*1 N o:x V:indices"},
    {Code::kFloor, "floor", "1", "f", "R1 o:x"},
    {Code::kFma, "fma", "1", "f", "R1 F:ftz round:rounding o:x o:y o:z"},
    {Code::kFor, "for", "1", "", "R* F:unsigned@2 N o:from o:to o:step V:init B1"},
    {Code::kFToF, "ftof", "1", "", "R1 round:rounding o:x"},
    {Code::kFToI, "ftoi", "1", "", "R1 F:saturating@4 sign:signedness round:rounding o:x"},
    {Code::kGetGlobal, "get_global", "1", "", "R1 str:name"},
    {Code::kGetIndexSpaceShape, "get_index_space_shape", "1", "", "R* o:view"},
    {Code::kGetNumTileBlocks, "get_num_tile_blocks", "1", "", "R3"},
    {Code::kGetTensorShape, "get_tensor_shape", "1", "", "R* o:view"},
    {Code::kGetTileBlockId, "get_tile_block_id", "1", "", "R3"},
    {Code::kIf, "if", "1", "", "R* o:condition B2"},
    {Code::kIntToPtr, "int_to_ptr", "1", "", "R1 o:x"},
    {Code::kIota, "iota", "1", "", "R1"},
    {Code::kIToF, "itof", "1", "", "R1 sign:signedness round:rounding o:x"},
    {Code::kJoinTokens, "join_tokens", "1", "", "R*1 N V:tokens"},
    {Code::kLoadPtr, "load_ptr_tko", "1", "",
     "R2 F:scope,hints,mask,padding,token order:order ?scope:scope ?hints:hints o:pointers ?o:mask ?o:padding ?o:token"},
    {Code::kLoadView, "load_view_tko", "1", "",
     "R*2 F:scope,hints,token order:order ?scope:scope ?hints:hints bools:inbounds@4 o:view O:index ?o:token"},
    {Code::kLog, "log", "1", "f", "R1 o:x"},
    {Code::kLog2, "log2", "1", "f", "R1 o:x"},
    {Code::kLoop, "loop", "1", "", "R* N V:init B1"},
    {Code::kMakePartitionView, "make_partition_view", "1", "", "R1 o:view"},
    {Code::kMakeTensorView, "make_tensor_view", "1", "", "R*1 o:base O:shape O:strides"},
    {Code::kMakeToken, "make_token", "1", "", "R1"},
    {Code::kMaxF, "maxf", "1", "f", "R1 F:nan,ftz o:x o:y"},
    {Code::kMaxI, "maxi", "1", "i", "R1 sign:signedness o:x o:y"},
    {Code::kMinF, "minf", "1", "f", "R1 F:nan,ftz o:x o:y"},
    {Code::kMinI, "mini", "1", "i", "R1 sign:signedness o:x o:y"},
    {Code::kMmaF, "mmaf", "1", "", "R1 F:fast_acc@3 o:x o:y o:acc"},
    {Code::kMmaI, "mmai", "1", "", "R1 sign:signedness_lhs sign:signedness_rhs o:x o:y o:acc"},
    {Code::kMulF, "mulf", "1", "f", "R1 F:ftz round:rounding o:x o:y"},
    {Code::kMulhiI, "mulhii", "1", "i", "R1 o:x o:y"},
    {Code::kMulI, "muli", "1", "i", "R1 over:overflow o:x o:y"},
    {Code::kNegF, "negf", "1", "f", "R1 o:x"},
    {Code::kNegI, "negi", "1", "i", "R1 over:overflow@2 o:x"},
    {Code::kOffset, "offset", "1", "", "R1 o:pointers o:offset"},
    {Code::kOrI, "ori", "1", "i", "R1 o:x o:y"},
    {Code::kPermute, "permute", "1", "", "R1 ints:permutation o:x"},
    {Code::kPow, "pow", "1", "f", "R1 o:x o:y"},
    {Code::kPrint, "print_tko", "1", "", "R* F:token@2 str:format O:values ?o:token"},
    {Code::kPtrToInt, "ptr_to_int", "1", "", "R1 o:x"},
    {Code::kPtrToPtr, "ptr_to_ptr", "1", "", "R1 o:x"},
    {Code::kReduce, "reduce", "1", "", "R* int:dim array:identities N V:values B1"},
    {Code::kRemF, "remf", "1", "f", "R1 o:x o:y"},
    {Code::kRemI, "remi", "1", "i", "R1 sign:signedness o:x o:y"},
    {Code::kReshape, "reshape", "1", "", "R1 o:x"},
    {Code::kReturn, "return", "1", "", "R*0 N V:values"},
    {Code::kRsqrt, "rsqrt", "1", "f", "R1 F:ftz o:x"},
    {Code::kScan, "scan", "1", "", "R* int:dim bool:reverse array:identities N V:values B1"},
    {Code::kSelect, "select", "1", "", "R1 o:condition o:x o:y"},
    {Code::kShlI, "shli", "1", "i", "R1 over:overflow o:x o:y"},
    {Code::kShrI, "shri", "1", "i", "R1 sign:signedness o:x o:y"},
    {Code::kSin, "sin", "1", "f", "R1 o:x"},
    {Code::kSinh, "sinh", "1", "f", "R1 o:x"},
    {Code::kSqrt, "sqrt", "1", "f", "R1 F:ftz round:rounding o:x"},
    {Code::kStorePtr, "store_ptr_tko", "1", "",
     "R1 F:scope,hints,mask,token order:order ?scope:scope ?hints:hints o:pointers o:value ?o:mask ?o:token"},
    {Code::kStoreView, "store_view_tko", "1", "",
     "R*1 F:scope,hints,token order:order ?scope:scope ?hints:hints bools:inbounds@4 o:value o:view O:index ?o:token"},
    {Code::kSubF, "subf", "1", "f", "R1 F:ftz round:rounding o:x o:y"},
    {Code::kSubI, "subi", "1", "i", "R1 over:overflow o:x o:y"},
    {Code::kTan, "tan", "1", "f", "R1 o:x"},
    {Code::kTanh, "tanh", "1", "f", "R1 round:rounding@2 o:x"},
    {Code::kTruncI, "trunci", "1", "", "R1 over:overflow o:x"},
    {Code::kXorI, "xori", "1", "i", "R1 o:x o:y"},
    {Code::kYield, "yield", "1", "", "R*0 N V:values"},
    {Code::kAtan2, "atan2", "2", "f", "R1 o:x o:y"},
    {Code::kPack, "pack", "3", "", "R1 o:x"},
    {Code::kUnpack, "unpack", "3", "", "R1 o:x"},
    {Code::kAlloca, "alloca", "3", "", "R1 F:global int:elements int:alignment"},
    {Code::kMmaFScaled, "mmaf_scaled", "3", "", "R1 o:x o:y o:acc o:x_scale o:y_scale"},
    {Code::kMakeGatherScatterView, "make_gather_scatter_view", "3", "", "R1 o:view"},
    {Code::kMakeStridedView, "make_strided_view", "3", "", "R1 o:view"},
    {Code::kAtomicRedView, "atomic_red_view_tko", "3", "",
     "R*1 F:token order:order scope:scope rmw:mode bools:inbounds@5 o:view O:index o:value ?o:token"},
    {Code::kInsert, "insert", "4", "", "R*1 N o:x o:into V:indices"},
    {Code::kGdcLaunchDependents, "gdc_launch_dependents_tko", "4", "", "R1 F:token ?o:token"},
    {Code::kGdcWait, "gdc_wait_tko", "4", "", "R1 F:token ?o:token"},
    {Code::kPowI, "fpowi", "4", "", "R1 o:x o:y"},
    {Code::kMemoryFenceAlias, "memory_fence_alias_tko", "4", "", "R1 o:token"},
    {Code::kMultimemLoadReduce, "multimem_load_reduce_view_tko", "5!", "",
     "R*2 F:scope,token order:order ?scope:scope multi:reduction bools:inbounds o:view O:index ?o:token"},
    {Code::kMultimemReduce, "multimem_reduce_view_tko", "5!", "",
     "R*1 F:token order:order scope:scope multi:reduction bools:inbounds o:view o:value O:index ?o:token"},
    {Code::kMultimemStore, "multimem_store_view_tko", "5!", "",
     "R*1 F:scope,token order:order ?scope:scope bools:inbounds o:view o:value O:index ?o:token"},
    // What stands around functions has no instruction in the function section.
    {Code::kEntry, "entry", "1", "", ""},
    {Code::kGlobal, "global", "1", "", ""},
    {Code::kModule, "module", "1", "", ""},
};

std::vector<std::string> split(const std::string& text, char by) {
  std::vector<std::string> parts;
  std::istringstream in(text);
  for (std::string part; std::getline(in, part, by);)
    if (!part.empty()) parts.push_back(part);
  return parts;
}

Field field_of(std::string word, const std::vector<std::string>& flags) {
  Field f{};
  if (const std::size_t at = word.find('@'); at != std::string::npos) {
    f.since = std::stoi(word.substr(at + 1));
    word.resize(at);
  }
  const bool optional = word[0] == '?';
  if (optional) word.erase(0, 1);
  const std::size_t colon = word.find(':');
  const std::string head = word.substr(0, colon);
  if (colon != std::string::npos) f.name = word.substr(colon + 1);
  if (optional) f.flag = static_cast<int>(std::find(flags.begin(), flags.end(), f.name) - flags.begin());
  if (head == "F") {
    f.what = Field::kFlags, f.flags = split(f.name, ',');
  } else if (head == "N") {
    f.what = Field::kTotal;
  } else if (head == "o") {
    f.what = Field::kOperand;
  } else if (head == "O") {
    f.what = Field::kOperands;
  } else if (head == "V") {
    f.what = Field::kRest;
  } else if (head[0] == 'R' || head[0] == 'B') {
    f.what = head[0] == 'R' ? Field::kResults : Field::kRegions;
    f.counted = head[1] == '*';
    const std::string digits = head.substr(f.counted ? 2 : 1);
    if (!digits.empty()) f.count = std::stoi(digits);
  } else {
    f.what = Field::kAttribute, f.kind = head;
  }
  return f;
}

OpInfo info_of(const Line& line) {
  OpInfo o{};
  const std::string since = line.since;
  o.code = line.code, o.name = line.name, o.since = since[0] - '0', o.executed = since.size() == 1, o.same = line.same;
  std::vector<std::string> flags;
  for (const std::string& word : split(line.layout, ' ')) {
    const Field f = field_of(word, flags);
    if (f.what == Field::kFlags) flags = f.flags;
    if (f.what == Field::kAttribute) o.attributes.push_back(f.name);
    if (f.what == Field::kOperand || f.what == Field::kOperands || f.what == Field::kRest) o.operands.push_back(f.name);
    o.fields.push_back(f);
  }
  return o;
}

int place_in(const std::vector<std::string>& names, std::string_view name) {
  const auto at = std::find(names.begin(), names.end(), name);
  return at == names.end() ? -1 : static_cast<int>(at - names.begin());
}

}  // namespace

int OpInfo::attribute(std::string_view n) const { return place_in(attributes, n); }
int OpInfo::operand(std::string_view n) const { return place_in(operands, n); }

const std::vector<OpInfo>& table() {
  static const std::vector<OpInfo> all = [] {
    std::vector<OpInfo> v;
    for (const Line& line : kLines) v.push_back(info_of(line));
    return v;
  }();
  return all;
}

const OpInfo* find(u64 opcode) {
  static const std::map<u64, const OpInfo*> by_code = [] {
    std::map<u64, const OpInfo*> m;
    for (const OpInfo& o : table())
      if (!o.fields.empty()) m[static_cast<u64>(o.code)] = &o;
    return m;
  }();
  const auto at = by_code.find(opcode);
  return at == by_code.end() ? nullptr : at->second;
}

const std::vector<std::string>& names_of(const std::string& kind) {
  static const std::map<std::string, std::vector<std::string>> names = {
      {"round",
       {"nearest_even", "zero", "negative_inf", "positive_inf", "approx", "full", "nearest_int_to_zero", "nearest_away"}},
      {"over", {"none", "no_signed_wrap", "no_unsigned_wrap", "no_wrap"}},
      {"compare", {"equal", "not_equal", "less_than", "less_than_or_equal", "greater_than", "greater_than_or_equal"}},
      {"ordered", {"unordered", "ordered"}},
      {"sign", {"unsigned", "signed"}},
      {"order", {"weak", "relaxed", "acquire", "release", "acq_rel"}},
      {"scope", {"tl_blk", "device", "sys"}},
      {"rmw", {"and", "or", "xor", "add", "addf", "max", "min", "umax", "umin", "xchg"}},
      {"multi", {"add", "min", "max", "and", "or", "xor", "umin", "umax"}},
  };
  static const std::vector<std::string> none;
  const auto at = names.find(kind);
  return at == names.end() ? none : at->second;
}

std::vector<Operation> operations() {
  std::vector<Operation> all;
  for (const OpInfo& o : table()) all.push_back({static_cast<int>(o.code), o.name, o.since, o.executed});
  std::sort(all.begin(), all.end(), [](const Operation& a, const Operation& b) { return a.opcode < b.opcode; });
  return all;
}

}  // namespace ashlar::tileir
