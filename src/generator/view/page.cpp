// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "generator/view/page.h"

#include <string_view>

#include <ashlar/schedule/step.h>

#include "generator/view/parts.h"

namespace ashlar::generator::view {

namespace {

// Inside of a <script> element nothing may look like its end.
std::string for_script(std::string text) {
  for (std::size_t at = 0; (at = text.find("</", at)) != std::string::npos; at += 3) text.replace(at, 2, "<\\/");
  for (std::size_t at = 0; (at = text.find("<!--", at)) != std::string::npos; at += 8) text.replace(at, 4, "\\u003c!--");
  return text;
}

std::string in_html(std::string_view text) {
  std::string out;
  for (const char c : text) out += c == '<' ? "&lt;" : c == '&' ? "&amp;" : std::string(1, c);
  return out;
}

void put(std::string& page, std::string_view mark, const std::string& text) {
  const std::size_t at = page.find(mark);
  if (at == std::string::npos) throw InternalError("the page has no place for " + std::string(mark));
  page.replace(at, mark.size(), text);
}

}  // namespace

std::string data(const Compilation& c, const Options& options) {
  Sources sources;
  LineTable lines;
  const ir::Program& p = c.schedule->scheduled().program;
  json all = {{"generator", options.generator}, {"function", options.function}, {"target", c.schedule->target().text()}};
  all["steps"] = steps(c, lines, sources);
  all["graph"] = graph(p, sources);
  all["run"] = run(c, options.drawn);
  if (options.refused) {
    all["refusal"] = refusal(*options.refused, sources);
  } else {
    all["code"] = code(c, sources);
    if (!c.schedule->target().has_tiles()) all["figures"] = charts(c, options);
  }
  all["lines"] = lines.lines();
  all["sources"] = sources.files();
  return all.dump(-1, ' ', false, json::error_handler_t::replace);
}

std::string page(const Compilation& c, const Options& options) {
  std::string text = page_html;
  put(text, "/*style*/", page_css);
  put(text, "{{title}}", in_html(options.function));
  // Last what is longest: what it holds is not searched for marks.
  put(text, "/*script*/", page_script);
  put(text, "{{data}}", for_script(data(c, options)));
  return text;
}

}  // namespace ashlar::generator::view
