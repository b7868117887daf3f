// verify reads each file completely, and compares it with its files document: the number and sizes
// of the chunks, the length and the md5. It prints one line per file.
#include <optional>
#include <string>

#include "engine/base/counted.h"
#include "engine/bson/builder.h"
#include "gridfs/bucket/md5.h"
#include "tools/gridfiles/command.h"
#include "tools/gridfiles/file_query.h"
#include "tools/gridfiles/interruption.h"
#include "tools/gridfiles/output.h"
#include "tools/gridfiles/target.h"

namespace gridmount::tools {

namespace {

constexpr size_t kBlockBytes = 1024 * 1024;

struct Verified {
  bool has_md5 = false;
  std::string problem;  // empty: the file is as its document says
};

// Returns the digest of the content, or nothing if it is not `wanted`.
Result<std::optional<std::string>> read_whole(gridfs::DownloadStream& stream, bool wanted,
                                              Progress& progress) {
  std::optional<gridfs::Md5> digest;
  if (wanted && gridfs::Md5::available()) digest.emplace();
  for (;;) {
    GM_TRY(Interruption::check());
    GM_ASSIGN(const auto data, stream.read(kBlockBytes));
    if (data.empty()) break;
    if (digest) digest->update(data);
    progress.add(data.size());
  }
  return digest ? std::optional(digest->hex()) : std::nullopt;
}

// Returns true if the error says that this file is damaged. Returns false for other errors, for
// example if no server answers.
bool is_of_file(const Error& error) {
  const ErrorCode code = error.code();
  return code == gridfs::kChunkIsMissing || code == gridfs::kChunkIsWrongSize ||
         code == gridfs::kInvalidFilesDocument || code == ErrorCode::kDataCorruptionDetected;
}

// Fails with errors that do not mean damage of the file, and with kFileNotFound if the file was
// removed.
Result<Verified> verify(const CommandContext& context, bson::View file) {
  Verified verified;
  const auto stored = file.find("md5");
  const bool has_md5 = stored && stored->type() == bson::Type::kString;
  context.progress.set_subject(filename_of(file));
  auto stream = context.bucket.open_download_stream(file["_id"]);
  Result<std::optional<std::string>> digest =
      stream ? read_whole(**stream, has_md5, context.progress) : fail(std::move(stream).error());
  if (!digest) {
    if (!is_of_file(digest.error())) return fail(std::move(digest).error());
    verified.problem = digest.error().message();
    return verified;
  }
  verified.has_md5 = digest->has_value();
  if (*digest && **digest != stored->as_string()) {
    verified.problem = "the content has the md5 " + **digest + ", but the files document says " +
                       std::string(stored->as_string());
  }
  return verified;
}

Result<bool> exists(const CommandContext& context, bson::ValueView id) {
  bson::Builder by_id;
  // $eq, so that an _id that is a document is compared as a value and not parsed as operators.
  by_id.open_document("_id").append("$eq", id).close();
  GM_ASSIGN(auto snapshot, context.bucket.store().snapshot());
  GM_ASSIGN(auto found, context.bucket.files().find_one(*snapshot, std::move(by_id).finish()));
  return found.has_value();
}

Status print_verified(const Options& options, bson::View file, const Verified& verified) {
  const bool is_sound = verified.problem.empty();
  if (options.json) {
    bson::Builder document;
    document.append("_id", file["_id"]).append("filename", filename_of(file));
    document.append("ok", is_sound).append("md5", verified.has_md5);
    if (!is_sound) document.append("problem", verified.problem);
    return print_json(std::move(document).finish());
  }
  std::string line = filename_of(file) + "\t";
  if (!is_sound) {
    line += "damaged: " + verified.problem;
  } else {
    line += verified.has_md5 ? "ok" : "ok, without md5";
  }
  return print_line(std::move(line));
}

}  // namespace

Status run_verify(const CommandContext& context) {
  int64_t files = 0;
  int64_t damaged = 0;
  const auto visit = [&](bson::View file) -> Status {
    Result<Verified> verified = verify(context, file);
    if (!verified && verified.error().code() == gridfs::kFileNotFound) return {};
    GM_TRY(verified);
    if (!verified->problem.empty()) {
      // Somebody may have removed the file meanwhile, and then its chunks are missing.
      GM_ASSIGN(const bool is_there, exists(context, file["_id"]));
      if (!is_there) return {};
      ++damaged;
    }
    ++files;
    return print_verified(context.options, file, *verified);
  };
  if (context.progress.is_shown()) {
    const auto expect = [&](bson::View file) -> Status {
      context.progress.expect(target_of(file).bytes);
      return {};
    };
    GM_TRY(for_each_file(context, names_of_argument(context), bson::View(), expect));
  }
  GM_TRY(for_each_file(context, names_of_argument(context), bson::View(), visit));
  GM_TRY(flush_output());
  if (damaged == 0) return {};
  return fail(gridfs::kChunkIsMissing,
              std::to_string(damaged) + " of " + counted(static_cast<uint64_t>(files), "file") +
                  (damaged == 1 ? " is" : " are") + " damaged; see `gridstore check`");
}

}  // namespace gridmount::tools
