#include "tools/gridstore/documents/namespace_argument.h"

#include "tools/quoted.h"

namespace gridmount::tools {

Result<engine::Namespace> namespace_argument(const std::string& argument) {
  const size_t dot = argument.find('.');
  if (dot == std::string::npos) {
    return fail(ErrorCode::kInvalidNamespace,
                in_quotes(argument) + " names no collection: write DB.COLLECTION, such as " +
                    in_quotes(argument + ".fs.files"));
  }
  engine::Namespace ns{argument.substr(0, dot), argument.substr(dot + 1)};
  GM_TRY(engine::check_namespace(ns));
  return ns;
}

}  // namespace gridmount::tools
