// put and put_id copy local files into the bucket.
#include <algorithm>
#include <filesystem>
#include <optional>
#include <string>
#include <system_error>
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

Status put(const CommandContext& context, const std::string& local_name, const std::string& name,
           std::optional<bson::Value> id) {
  const Options& options = context.options;
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

Status put_reporting(const CommandContext& context, const std::string& local_name,
                     const std::string& name, std::optional<bson::Value> id) {
  context.log.line(Log::kAlways, "adding gridFile: " + in_quotes(name) + "\n");
  Status done = put(context, local_name, name, std::move(id));
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

const std::string& local_name_of(const CommandContext& context, const std::string& name) {
  return context.options.local.empty() ? name : context.options.local;
}

Status cannot_read(const std::filesystem::path& path, const std::error_code& problem) {
  return fail(ErrorCode::kIoError, system_error_text("open", path.string(), problem.value()));
}

// Puts the folder's files, and then those of the folders in it, each under its path with `name` in
// place of the folder's path. What is neither file nor folder is left out, and so is the folder of
// the store itself.
Status put_folder(const CommandContext& context, const std::filesystem::path& folder,
                  const std::string& name) {
  namespace fs = std::filesystem;
  std::error_code problem;
  const auto leave_out = [&](const fs::path& path, std::string_view why) {
    context.log.line(Log::kAlways,
                     "leaving out " + in_quotes(path.string()) + ", which is " + std::string(why));
  };
  if (fs::equivalent(folder, context.options.store, problem)) {
    leave_out(folder, "the store itself");
    return {};
  }
  std::vector<fs::path> entries;
  problem.clear();
  for (fs::directory_iterator entry(folder, problem), end; !problem && entry != end;
       entry.increment(problem)) {
    entries.push_back(entry->path());
  }
  if (problem) return cannot_read(folder, problem);
  std::sort(entries.begin(), entries.end());
  std::vector<fs::path> folders;
  const auto name_of = [&](const fs::path& entry) {
    return name.empty() ? entry.filename().string() : name + "/" + entry.filename().string();
  };
  for (const fs::path& entry : entries) {
    const fs::file_status status = fs::symlink_status(entry, problem);
    if (fs::is_directory(status)) {
      folders.push_back(entry);
    } else if (fs::is_regular_file(status)) {
      GM_TRY(put_reporting(context, entry.string(), name_of(entry), std::nullopt));
    } else {
      leave_out(entry, fs::is_symlink(status) ? "a symbolic link" : "no file");
    }
  }
  for (const fs::path& below : folders) GM_TRY(put_folder(context, below, name_of(below)));
  return {};
}

// Like `cp -r`: the names begin with the last component of the folder's path, if it has one.
Status put_recursively(const CommandContext& context, const std::string& path) {
  namespace fs = std::filesystem;
  std::error_code ignored;  // put() fails too
  if (!fs::is_directory(path, ignored)) return put_reporting(context, path, path, std::nullopt);
  fs::path normal = fs::path(path).lexically_normal();
  if (!normal.has_filename()) normal = normal.parent_path();
  const std::string last = normal.filename().string();
  return put_folder(context, path, last == "." || last == ".." || last == "/" ? "" : last);
}

}  // namespace

Status run_put(const CommandContext& context) {
  if (context.options.recursive && !context.options.local.empty()) {
    return fail(ErrorCode::kInvalidOptions, "cannot put folders with --local specified");
  }
  for (const std::string& name : context.arguments) {
    GM_TRY(context.options.recursive
               ? put_recursively(context, name)
               : put_reporting(context, local_name_of(context, name), name, std::nullopt));
  }
  return {};
}

Status run_put_id(const CommandContext& context) {
  GM_ASSIGN(bson::Value id, parse_file_id(context.arguments[1]));
  const std::string& name = context.arguments[0];
  return put_reporting(context, local_name_of(context, name), name, std::move(id));
}

}  // namespace gridmount::tools
