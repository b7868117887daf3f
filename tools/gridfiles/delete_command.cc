// delete and delete_id remove files from the bucket.
#include "tools/gridfiles/command.h"
#include "tools/gridfiles/target.h"
#include "tools/quoted.h"

namespace gridmount::tools {

namespace {

auto cannot_remove(Error error, const std::string& name) {
  return fail(
      std::move(error).with_context("error while removing " + in_quotes(name) + " from GridFS"));
}

}  // namespace

Status run_delete(const CommandContext& context) {
  const std::string& name = context.arguments[0];
  Status removed = context.bucket.remove_by_name(name);
  // As in mongofiles, it is not an error if no file has the name.
  if (!removed && removed.error().code() != gridfs::kFileNotFound) {
    return cannot_remove(std::move(removed).error(), name);
  }
  context.log.line(Log::kAlways,
                   "successfully deleted all instances of " + in_quotes(name) + " from GridFS\n");
  return {};
}

Status run_delete_id(const CommandContext& context) {
  const std::string& id_text = context.arguments[0];
  GM_ASSIGN(Target target, find_target_by_id(context, id_text));
  if (Status removed = context.bucket.remove(target.id); !removed) {
    return cannot_remove(std::move(removed).error(), target.name);
  }
  context.log.line(Log::kAlways,
                   "successfully deleted file with _id " + in_quotes(id_text) + " from GridFS");
  return {};
}

}  // namespace gridmount::tools
