// cp stores a copy of the newest file of a name under another name.
#include <string>

#include "tools/gridfiles/command.h"
#include "tools/gridfiles/file_copy.h"
#include "tools/gridfiles/file_query.h"
#include "tools/quoted.h"

namespace gridmount::tools {

// As with put, the copy becomes another revision of its name. With --replace, the copy becomes the
// only revision.
Status run_cp(const CommandContext& context) {
  const std::string& from = context.arguments[0];
  const std::string& to = context.arguments[1];
  if (from == to) {
    return fail(ErrorCode::kInvalidOptions, in_quotes(from) + " cannot be copied to itself");
  }
  GM_ASSIGN(const auto source, newest_file(context, from));
  if (!source) return files_not_found(context.arguments.first(1));
  GM_ASSIGN(const bson::Value id, copy_file(context, *source, to));
  if (context.options.replace) GM_TRY(remove_older(context, to, id));
  context.log.line(Log::kAlways, "copied " + in_quotes(from) + " to " + in_quotes(to));
  return {};
}

}  // namespace gridmount::tools
