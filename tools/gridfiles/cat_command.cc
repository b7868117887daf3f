// cat writes the newest file of each name, or the file of --revision, to standard output, one after
// another. With --range, cat writes only this range of each file.
#include <algorithm>
#include <optional>
#include <string>

#include "engine/base/counted.h"
#include "tools/gridfiles/command.h"
#include "tools/gridfiles/file_query.h"
#include "tools/gridfiles/local_file.h"
#include "tools/quoted.h"

namespace gridmount::tools {

namespace {

// Returns the bytes that --range selects in a file of `length` bytes. Fails with BadValue if the
// range begins behind the end of a file that is not empty.
Result<gridfs::ByteRange> range_in(const RequestedRange& requested, int64_t length,
                                   const std::string& name) {
  if (!requested.first)
    return gridfs::ByteRange{std::max(length - *requested.last, int64_t{0}), length};
  if (*requested.first >= length && length > 0) {
    return fail(ErrorCode::kBadValue, "--range begins at byte " + std::to_string(*requested.first) +
                                          ", but " + in_quotes(name) + " has only " +
                                          counted(static_cast<uint64_t>(length), "byte"));
  }
  const int64_t end = requested.last ? std::min(*requested.last, length - 1) + 1 : length;
  return gridfs::ByteRange{std::min(*requested.first, end), end};
}

Status write_file(const CommandContext& context, bson::View file, AtomicFile& output) {
  const bson::ValueView id = file["_id"];
  const std::string name = filename_of(file);
  std::optional<gridfs::ByteRange> range;
  if (context.options.range) {
    GM_ASSIGN(range, range_in(*context.options.range, length_of(file).value_or(0), name));
  }
  GM_ASSIGN(const auto stream, context.bucket.open_download_stream(id, range));
  return write_all(*stream, output, context.progress);
}

}  // namespace

Status run_cat(const CommandContext& context) {
  GM_ASSIGN(const auto files, files_of_arguments(context));
  GM_ASSIGN(AtomicFile output, create_local_file("-", LocalName::kOfOption, false));
  for (const bson::Document& file : files) {
    context.progress.set_subject(filename_of(file));
    Status written = write_file(context, file, output);
    if (!written && written.error().code() != ErrorCode::kInterrupted) {
      return fail(std::move(written).error().with_context("error while reading " +
                                                          in_quotes(filename_of(file))));
    }
    GM_TRY(written);
  }
  return output.commit();
}

}  // namespace gridmount::tools
