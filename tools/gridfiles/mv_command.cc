// mv gives all revisions of a name another name.
#include <string>
#include <vector>

#include "tools/gridfiles/command.h"
#include "tools/gridfiles/file_query.h"
#include "tools/quoted.h"

namespace gridmount::tools {

// With --replace, the files that had the new name before are removed after the renaming.
Status run_mv(const CommandContext& context) {
  const std::string& from = context.arguments[0];
  const std::string& to = context.arguments[1];
  if (from == to) {
    return fail(ErrorCode::kInvalidOptions, in_quotes(from) + " cannot be renamed to itself");
  }
  GM_ASSIGN(const std::vector<bson::Value> replaced, ids_of_name(context, to));
  if (!replaced.empty() && !context.options.replace) {
    return fail(gridfs::kEntryExists,
                "a file is named " + in_quotes(to) + " already; set --replace to remove it");
  }
  GM_TRY(context.bucket.rename_by_name(from, to));
  for (const bson::Value& id : replaced) GM_TRY(remove_if_there(context, id));
  context.log.line(Log::kAlways, "renamed " + in_quotes(from) + " to " + in_quotes(to));
  return {};
}

}  // namespace gridmount::tools
