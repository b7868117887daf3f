#include "tools/gridfiles/target.h"

#include <algorithm>
#include <filesystem>

#include "engine/bson/builder.h"
#include "tools/gridfiles/file_id.h"
#include "tools/gridfiles/file_query.h"
#include "tools/quoted.h"

namespace gridmount::tools {

Target target_of(bson::View files_document) {
  auto filename = files_document.find("filename");
  bool is_text = filename && filename->type() == bson::Type::kString;
  const int64_t length = length_of(files_document).value_or(0);
  return {bson::Value(files_document["_id"]), std::string(is_text ? filename->as_string() : ""),
          static_cast<uint64_t>(std::max<int64_t>(length, 0))};
}

Result<Target> find_target_by_id(const CommandContext& context, const std::string& id_text) {
  GM_ASSIGN(bson::Value id, parse_file_id(id_text));
  GM_ASSIGN(auto snapshot, context.bucket.store().snapshot());
  bson::Builder filter;
  // $eq, so that an _id that is a document is compared as a value and not parsed as operators.
  filter.open_document("_id").append("$eq", id).close();
  bson::Document by_id = std::move(filter).finish();
  GM_ASSIGN(auto document, context.bucket.files().find_one(*snapshot, by_id));
  if (!document) {
    return fail(gridfs::kFileNotFound, "no such file with _id: " + in_quotes(id_text));
  }
  Target target = target_of(*document);
  GM_TRY(check_traversal(context, target.name));
  return target;
}

Status check_traversal(const CommandContext& context, const std::string& name) {
  namespace fs = std::filesystem;
  std::error_code problem;
  fs::path folder = fs::current_path(problem);
  if (problem) {
    return fail(ErrorCode::kIoError, "getting working directory: " + problem.message());
  }
  fs::path relative = (folder / name).lexically_normal().lexically_relative(folder);
  if (*relative.begin() != "..") return {};
  if (!context.options.allow_unsafe_traversal) {
    return fail(ErrorCode::kIllegalOperation,
                in_quotes(name) +
                    " lies outside the current directory; set --allowUnsafeTraversal if you really "
                    "want to write to that path");
  }
  context.log.line(Log::kAlways, "WARNING: " + in_quotes(name) +
                                     " lies outside the current directory. Restoring anyway per "
                                     "configuration.");
  return {};
}

}  // namespace gridmount::tools
