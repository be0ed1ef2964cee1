// Texts of back ends, short ones, as the page reads them.
#include <doctest/doctest.h>

#include "generator/view/listings.h"

using namespace ashlar::generator::view;

TEST_CASE("listings: LLVM IR by its metadata, of which nothing is left") {
  const Listing l = llvm_listing(
      "define void @f(ptr %0) !dbg !4 {\n"
      "  %1 = load i64, ptr %0, align 8, !dbg !7, !alias.scope !9\n"
      "    #dbg_value(i64 %1, !5, !DIExpression(), !7)\n"
      "  ret void, !dbg !8\n"
      "}\n"
      "\n"
      "attributes #0 = { nounwind }\n"
      "!4 = distinct !DISubprogram(name: \"f\", line: 1)\n"
      "!7 = !DILocation(line: 5, scope: !4)\n"
      "!8 = !DILocation(line: 0, scope: !4)\n");
  CHECK(l.lines == std::vector<std::string>{"define void @f(ptr %0) {", "  %1 = load i64, ptr %0, align 8, !alias.scope !9",
                                            "  ret void", "}"});
  CHECK(l.of == std::vector<int>{-1, 4, -1, -1});
}

TEST_CASE("listings: assembly by .loc, until another function begins") {
  const Listing l = assembly_listing(
      "\t.text\n\t.file\t\"f\"\nf:\n.Lfunc_begin0:\n\t.loc\t1 3 0\n\tpushq\t%rbp\n.LBB0_1:\n\t.loc\t1 4 0 is_stmt "
      "0\n\taddq\t%rax, %rbx\n"
      "\tvmovups\t(%rax), %ymm0\n\t.loc\t1 0 0\n\tretq\ng:\n\tretq\n\t.section\t.debug_line,\"\",@progbits\n\t.long\t7\n");
  CHECK(l.lines == std::vector<std::string>{"\t.text", "f:", "\tpushq\t%rbp", ".LBB0_1:", "\taddq\t%rax, %rbx",
                                            "\tvmovups\t(%rax), %ymm0", "\tretq", "g:", "\tretq"});
  CHECK(l.of == std::vector<int>{-1, -1, 2, -1, 3, 3, -1, -1, -1});
}

TEST_CASE("listings: C by #line of the file that is asked for") {
  const Listing l = c_listing("a;\n#line 7 \"k.cpp\"\nb;\nc;\n#line 9 \"f.c\"\nd;\n", "k.cpp");
  CHECK(l.lines == std::vector<std::string>{"a;", "b;", "c;", "d;"});
  CHECK(l.of == std::vector<int>{-1, 6, 6, -1});
}

TEST_CASE("listings: SPIR-V by OpLine, to the end of a block") {
  const Listing l = spirv_listing(
      "          %3 = OpString \"k.cpp\"\n"
      "         %sum = OpFunction %void None %4\n"
      "          %5 = OpLabel\n"
      "               OpLine %3 7 0\n"
      "          %6 = OpIAdd %int %1 %2\n"
      "               OpBranch %7\n"
      "          %7 = OpLabel\n"
      "          %8 = OpIAdd %int %6 %2\n"
      "               OpLine %3 9 0\n"
      "               OpStore %9 %8\n"
      "               OpNoLine\n"
      "               OpReturn\n"
      "               OpFunctionEnd\n");
  CHECK(l.lines.size() == 9);
  CHECK(l.lines[2] == "          %6 = OpIAdd %int %1 %2");
  CHECK(l.of == std::vector<int>{-1, -1, 6, 6, -1, -1, 8, -1, -1});
}
