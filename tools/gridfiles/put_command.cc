// put and put_id copy local files into the bucket.
#include <optional>
#include <string>
#include <vector>

#include "engine/base/log_text.h"
#include "engine/bson/builder.h"
#include "tools/gridfiles/command.h"
#include "tools/gridfiles/file_id.h"
#include "tools/gridfiles/file_query.h"
#include "tools/gridfiles/local_file.h"
#include "tools/quoted.h"

namespace gridmount::tools {

namespace {

// Copies all of `input`. If reading or writing fails, nothing of the file stays in the bucket.
Status upload(LocalInput& input, gridfs::UploadStream& stream, engine::Durability durability) {
  auto copy = [&]() -> Status {
    for (;;) {
      GM_ASSIGN(auto data, input.read());
      if (data.empty()) return stream.close(durability);
      GM_TRY(stream.write(data));
    }
  };
  Status copied = copy();
  // The first error is returned. If abort() leaves anything, the next start of a program removes
  // it.
  if (!copied) static_cast<void>(stream.abort());
  return copied;
}

// Removes all files of that name except the new one. They are collected first, so that the snapshot
// is gone before the first removal.
Status remove_older(const CommandContext& context, const std::string& name,
                    const bson::Value& new_id) {
  GM_ASSIGN(const std::vector<bson::Value> ids, ids_of_name(context, name));
  for (const bson::Value& id : ids) {
    if (id == new_id) continue;
    if (Status removed = remove_if_there(context, id); !removed) {
      return fail(std::move(removed).error().with_context("error while removing " +
                                                          in_quotes(name) + " from GridFS"));
    }
  }
  context.log.line(Log::kAlways,
                   "successfully deleted all instances of " + in_quotes(name) + " from GridFS\n");
  return {};
}

Status put(const CommandContext& context, const std::string& name, std::optional<bson::Value> id) {
  const Options& options = context.options;
  const std::string& local_name = options.local.empty() ? name : options.local;
  GM_ASSIGN(LocalInput input, LocalInput::open(local_name));
  if (local_name != "-") {
    context.log.line(Log::kDebug, "creating GridFS gridFile " + in_quotes(name) +
                                      " from local gridFile " + in_quotes(local_name));
  }

  bson::Builder builder;
  if (!options.content_type.empty()) builder.append("contentType", options.content_type);
  bson::Document metadata = std::move(builder).finish();
  gridfs::UploadOptions upload_options;
  upload_options.id = std::move(id);
  upload_options.metadata = metadata;
  auto stream = context.bucket.open_upload_stream(name, upload_options);
  if (!stream) {
    return fail(std::move(stream).error().with_context("could not open upload stream"));
  }
  bson::Value new_id = (*stream)->id();
  Status stored = upload(input, **stream, options.write_concern.durability());
  if (!stored) {
    if (stored.error().code() == ErrorCode::kInterrupted) return stored;
    return fail(std::move(stored).error().with_context("error while storing " +
                                                       in_quotes(local_name) + " into GridFS"));
  }
  if (options.replace) return remove_older(context, name, new_id);
  return {};
}

Status put_reporting(const CommandContext& context, const std::string& name,
                     std::optional<bson::Value> id) {
  context.log.line(Log::kAlways, "adding gridFile: " + in_quotes(name) + "\n");
  Status done = put(context, name, std::move(id));
  if (!done) {
    if (done.error().code() != ErrorCode::kInterrupted) {
      context.log.line(Log::kAlways,
                       "error adding gridFile: " + log_text(done.error().message()) + "\n");
    }
    return done;
  }
  context.log.line(Log::kAlways, "added gridFile: " + in_quotes(name) + "\n");
  return {};
}

}  // namespace

Status run_put(const CommandContext& context) {
  for (const std::string& name : context.arguments) {
    GM_TRY(put_reporting(context, name, std::nullopt));
  }
  return {};
}

Status run_put_id(const CommandContext& context) {
  GM_ASSIGN(bson::Value id, parse_file_id(context.arguments[1]));
  return put_reporting(context, context.arguments[0], std::move(id));
}

}  // namespace gridmount::tools
