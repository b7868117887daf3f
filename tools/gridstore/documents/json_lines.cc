#include "tools/gridstore/documents/json_lines.h"

#include <cstdio>
#include <string>

#include "tools/gridstore/compact_json.h"
#include "tools/gridstore/message.h"

namespace gridmount::tools {

ExitStatus print_json_lines(Result<std::unique_ptr<FoundDocuments>> found, bson::JsonForm form) {
  if (!found) return print_error(found.error());
  while (true) {
    const Result<std::optional<bson::View>> next = (*found)->next();
    if (!next) return print_error(next.error());
    if (!*next) break;
    const std::string line = compact_json(**next, form) + "\n";
    if (fwrite(line.data(), 1, line.size(), stdout) != line.size()) return ExitStatus::kFailure;
  }
  return (*found)->damaged() > 0 ? ExitStatus::kStoreDamaged : ExitStatus::kOk;
}

}  // namespace gridmount::tools
