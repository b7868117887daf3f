#include "tools/gridfiles/stored_file.h"

#include <utility>

#include "engine/base/log_text.h"
#include "engine/bson/builder.h"
#include "tools/gridfiles/file_query.h"
#include "tools/gridfiles/local_file.h"
#include "tools/quoted.h"

namespace gridmount::tools {

namespace {

// Copies all of `input`. If reading or writing fails, removes what was written.
Status upload(LocalInput& input, gridfs::UploadStream& stream, engine::Durability durability,
              Progress& progress) {
  auto copy = [&]() -> Status {
    for (;;) {
      GM_ASSIGN(auto data, input.read());
      if (data.empty()) return stream.close(durability);
      GM_TRY(stream.write(data));
      progress.add(data.size());
    }
  };
  Status copied = copy();
  // Returns the first error. If abort() fails, the next start of a program removes the rest of the
  // file.
  if (!copied) static_cast<void>(stream.abort());
  return copied;
}

Status store(const CommandContext& context, const LocalSource& source) {
  const Options& options = context.options;
  GM_ASSIGN(LocalInput input, LocalInput::open(source.path));
  if (source.path != "-") {
    context.log.line(Log::kDebug, "creating GridFS gridFile " + in_quotes(source.name) +
                                      " from local gridFile " + in_quotes(source.path));
  }

  bson::Builder builder;
  if (!options.content_type.empty()) builder.append("contentType", options.content_type);
  if (source.mtime) {
    gridfs::PosixFields kept;
    kept.mtime = source.mtime;
    builder.open_document("posix");
    gridfs::append_posix_fields(builder, kept);
    builder.close();
  }
  bson::Document metadata = std::move(builder).finish();
  gridfs::UploadOptions upload_options;
  upload_options.id = source.id;
  upload_options.metadata = metadata;
  auto stream = context.bucket.open_upload_stream(source.name, upload_options);
  if (!stream) {
    return fail(std::move(stream).error().with_context("could not open upload stream"));
  }
  bson::Value new_id = (*stream)->id();
  Status stored = upload(input, **stream, options.write_concern.durability(), context.progress);
  if (!stored) {
    if (stored.error().code() == ErrorCode::kInterrupted) return stored;
    return fail(std::move(stored).error().with_context("error while storing " +
                                                       in_quotes(source.path) + " into GridFS"));
  }
  if (options.replace) return remove_older(context, source.name, new_id);
  return {};
}

}  // namespace

Status store_file(const CommandContext& context, const LocalSource& source) {
  context.progress.set_subject(source.name);
  context.log.line(Log::kAlways, "adding gridFile: " + in_quotes(source.name) + "\n");
  Status done = store(context, source);
  if (!done) {
    if (done.error().code() != ErrorCode::kInterrupted) {
      context.log.line(Log::kAlways,
                       "error adding gridFile: " + log_text(done.error().message()) + "\n");
    }
    return done;
  }
  context.log.line(Log::kAlways, "added gridFile: " + in_quotes(source.name) + "\n");
  return {};
}

}  // namespace gridmount::tools
