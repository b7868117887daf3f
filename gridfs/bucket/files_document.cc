#include "gridfs/bucket/files_document.h"

#include <algorithm>
#include <limits>

#include "engine/bson/json.h"
#include "gridfs/bucket/byte_fields.h"
#include "gridfs/bucket/error.h"

namespace gridmount::gridfs {
namespace {

constexpr int64_t kMillisecondsPerSecond = 1000;
constexpr int64_t kNanosecondsPerMillisecond = 1'000'000;

void append_number(bson::Builder& builder, std::string_view key, uint64_t value) {
  if (value <= static_cast<uint64_t>(std::numeric_limits<int32_t>::max())) {
    builder.append(key, static_cast<int32_t>(value));
  } else {
    builder.append(key, static_cast<int64_t>(value));
  }
}

std::optional<uint64_t> read_number(bson::View document, std::string_view key) {
  const std::optional<bson::ValueView> value = document.find(key);
  if (!value) return std::nullopt;
  const std::optional<int64_t> number = value->integral();
  if (!number) return std::nullopt;
  return static_cast<uint64_t>(*number);
}

std::optional<uint32_t> read_number_32(bson::View document, std::string_view key) {
  const std::optional<uint64_t> number = read_number(document, key);
  if (!number || *number > std::numeric_limits<uint32_t>::max()) return std::nullopt;
  return static_cast<uint32_t>(*number);
}

std::optional<timespec> read_time(bson::View document, std::string_view key,
                                  std::string_view nanoseconds_key) {
  const std::optional<bson::ValueView> date = document.find(key);
  if (!date || date->type() != bson::Type::kDate) return std::nullopt;
  timespec time = to_timespec(date->as_date());
  const std::optional<uint64_t> nanoseconds = read_number(document, nanoseconds_key);
  if (nanoseconds && *nanoseconds < static_cast<uint64_t>(kNanosecondsPerMillisecond)) {
    time.tv_nsec += static_cast<long>(*nanoseconds);
  }
  return time;
}

void append_time(bson::Builder& builder, std::string_view key, std::string_view nanoseconds_key,
                 const std::optional<timespec>& time) {
  if (!time) return;
  builder.append(key, to_date(*time));
  const auto nanoseconds = static_cast<int32_t>(time->tv_nsec % kNanosecondsPerMillisecond);
  if (nanoseconds != 0) builder.append(nanoseconds_key, nanoseconds);
}

std::optional<std::string> read_string(bson::View document, std::string_view key) {
  const std::optional<bson::ValueView> value = document.find(key);
  if (!value || value->type() != bson::Type::kString) return std::nullopt;
  return std::string(value->as_string());
}

AllocatedRanges read_allocated(bson::View posix, int64_t end_max) {
  AllocatedRanges ranges;
  const std::optional<bson::ValueView> value = posix.find(kAllocatedField);
  if (!value || value->type() != bson::Type::kArray) return ranges;
  int64_t last = -1;
  bool is_begin = true;
  for (const bson::Element element : value->as_document()) {
    const std::optional<int64_t> number = element.value.integral();
    if (!number || *number <= last || *number > end_max + kBlockBytes) return {};
    if (!is_begin) ranges.add(last, *number);
    last = *number;
    is_begin = !is_begin;
  }
  return is_begin ? ranges : AllocatedRanges();
}

tl::unexpected<Error> invalid(bson::View document, const std::string& what) {
  const std::optional<bson::ValueView> id = document.find("_id");
  return fail(kInvalidFilesDocument,
              "files document with _id " +
                  (id ? bson::to_json(*id, bson::JsonForm::kRelaxed) : std::string("missing")) +
                  ": " + what);
}

// Reads a whole number that is not negative.
Result<int64_t> read_size(bson::View document, std::string_view key) {
  const std::optional<bson::ValueView> value = document.find(key);
  if (!value) return invalid(document, std::string(key) + " is missing");
  const std::optional<int64_t> number = value->integral();
  if (!number) {
    return invalid(document, std::string(key) + " is " +
                                 bson::to_json(*value, bson::JsonForm::kRelaxed) +
                                 ", which is not a whole number");
  }
  if (*number < 0) {
    return invalid(document, std::string(key) + " is negative: " + std::to_string(*number));
  }
  return *number;
}

}  // namespace

int64_t recorded_links(bson::View files_document) {
  std::optional<bson::ValueView> value = files_document.find("metadata");
  for (const std::string_view field : {"posix", "links"}) {
    if (!value || value->type() != bson::Type::kDocument) return 0;
    value = value->as_document().find(field);
  }
  return value ? std::clamp<int64_t>(value->integral().value_or(0), 0, kMaxLinks - 1) : 0;
}

timespec to_timespec(bson::Date date) {
  int64_t seconds = date.milliseconds / kMillisecondsPerSecond;
  int64_t milliseconds = date.milliseconds % kMillisecondsPerSecond;
  if (milliseconds < 0) {
    milliseconds += kMillisecondsPerSecond;
    --seconds;
  }
  return timespec{static_cast<time_t>(seconds),
                  static_cast<long>(milliseconds * kNanosecondsPerMillisecond)};
}

bson::Date to_date(const timespec& time) {
  constexpr bson::Date kFirst{std::numeric_limits<int64_t>::min()};
  constexpr bson::Date kLast{std::numeric_limits<int64_t>::max()};
  const auto seconds = static_cast<int64_t>(time.tv_sec);
  int64_t milliseconds = 0;
  if (__builtin_mul_overflow(seconds, kMillisecondsPerSecond, &milliseconds) ||
      __builtin_add_overflow(milliseconds, time.tv_nsec / kNanosecondsPerMillisecond,
                             &milliseconds)) {
    return seconds < 0 ? kFirst : kLast;
  }
  return bson::Date{milliseconds};
}

timespec nearest_kept(const timespec& time) {
  const timespec kept = to_timespec(to_date(time));
  return kept.tv_sec == time.tv_sec ? time : kept;
}

void append_posix_fields(bson::Builder& builder, const PosixFields& fields) {
  if (fields.mode) append_number(builder, "mode", *fields.mode);
  if (fields.uid) append_number(builder, "uid", *fields.uid);
  if (fields.gid) append_number(builder, "gid", *fields.gid);
  append_time(builder, "atime", "atimeNs", fields.atime);
  append_time(builder, "mtime", "mtimeNs", fields.mtime);
  append_time(builder, "ctime", "ctimeNs", fields.ctime);
  if (fields.rdev) append_number(builder, "rdev", *fields.rdev);
  if (fields.symlink_target) append_bytes(builder, "symlinkTarget", *fields.symlink_target);
  if (fields.xattrs && !fields.xattrs->empty()) append_xattrs(builder, "xattrs", *fields.xattrs);
}

void append_posix_changes(const PosixFields& changes, std::string_view prefix, bson::Builder& set,
                          bson::Builder& unset) {
  bson::Builder fields;
  append_posix_fields(fields, changes);
  const bson::Document flat = std::move(fields).finish();
  for (const bson::Element element : flat.view()) {
    set.append(std::string(prefix) + std::string(element.key), element.value);
  }
  // A time without nanoseconds removes the nanoseconds of the old time.
  const auto unset_nanoseconds = [&](const std::optional<timespec>& time, std::string_view name) {
    if (time && !flat.find(name)) unset.append(std::string(prefix) + std::string(name), "");
  };
  if (changes.xattrs && changes.xattrs->empty()) unset.append(std::string(prefix) + "xattrs", "");
  unset_nanoseconds(changes.atime, "atimeNs");
  unset_nanoseconds(changes.mtime, "mtimeNs");
  unset_nanoseconds(changes.ctime, "ctimeNs");
}

bson::Document update_of(bson::Builder& set, bson::Builder& unset) {
  bson::Builder update;
  const bson::Document set_fields = std::move(set).finish();
  const bson::Document unset_fields = std::move(unset).finish();
  if (!set_fields.view().empty()) update.append("$set", set_fields);
  if (!unset_fields.view().empty()) update.append("$unset", unset_fields);
  return std::move(update).finish();
}

void append_allocated(const AllocatedRanges& ranges, bson::Builder& set, bson::Builder& unset) {
  const std::string path = "metadata.posix." + std::string(kAllocatedField);
  if (ranges.empty()) {
    unset.append(path, "");
    return;
  }
  set.open_array(path);
  for (const AllocatedRanges::Run& run : ranges.runs()) {
    set.push(bson::Value(run.begin).view()).push(bson::Value(run.end).view());
  }
  set.close();
}

PosixFields read_posix_fields(bson::View posix) {
  PosixFields fields;
  fields.mode = read_number_32(posix, "mode");
  fields.uid = read_number_32(posix, "uid");
  fields.gid = read_number_32(posix, "gid");
  fields.atime = read_time(posix, "atime", "atimeNs");
  fields.mtime = read_time(posix, "mtime", "mtimeNs");
  fields.ctime = read_time(posix, "ctime", "ctimeNs");
  fields.rdev = read_number(posix, "rdev");
  fields.symlink_target = read_bytes(posix, "symlinkTarget");
  if (posix.find("xattrs")) fields.xattrs = read_xattrs(posix, "xattrs");
  return fields;
}

void merge_posix_fields(PosixFields& fields, const PosixFields& changes) {
  const auto take = [](auto& field, const auto& change) {
    if (change) field = change;
  };
  take(fields.mode, changes.mode);
  take(fields.uid, changes.uid);
  take(fields.gid, changes.gid);
  take(fields.atime, changes.atime);
  take(fields.mtime, changes.mtime);
  take(fields.ctime, changes.ctime);
  take(fields.rdev, changes.rdev);
  take(fields.symlink_target, changes.symlink_target);
  take(fields.xattrs, changes.xattrs);
}

Result<FilesDocument> FilesDocument::parse(bson::View document) {
  FilesDocument file;
  const std::optional<bson::ValueView> id = document.find("_id");
  if (!id) return invalid(document, "it has no _id");
  file.id = bson::Value(*id);
  GM_ASSIGN(file.length, read_size(document, "length"));
  GM_ASSIGN(const int64_t chunk_bytes, read_size(document, "chunkSize"));
  if (chunk_bytes == 0) return invalid(document, "chunkSize is 0");
  if (chunk_bytes > kMaxStoredChunkBytes && file.length > kMaxStoredChunkBytes) {
    return invalid(document, "chunkSize is " + std::to_string(chunk_bytes) +
                                 ", and length is more than one chunk can hold, " +
                                 std::to_string(kMaxStoredChunkBytes));
  }
  // chunkSize may be larger than the largest chunk that a mount can make for this file. If all
  // content fits into the first chunk, a smaller size has the same meaning. Otherwise another
  // program has made chunks of that size, and chunkSize stays.
  const int64_t most = max_chunk_bytes(file.id);
  file.chunk_size_is_too_large =
      chunk_bytes > kMaxStoredChunkBytes || (chunk_bytes > most && file.length <= most);
  file.chunk_bytes = static_cast<int32_t>(
      file.chunk_size_is_too_large ? std::max(file.length, std::min<int64_t>(most, kMaxChunkBytes))
                                   : chunk_bytes);
  if (file.length > max_file_bytes(file.chunk_bytes)) {
    return invalid(document, "length is " + std::to_string(file.length) +
                                 ", more than the largest file of chunkSize " +
                                 std::to_string(chunk_bytes) + " has");
  }

  const std::optional<bson::ValueView> date = document.find("uploadDate");
  if (date && date->type() == bson::Type::kDate) file.upload_date = date->as_date();
  file.md5 = read_string(document, "md5");
  file.filename = read_string(document, "filename");
  file.content_type = read_string(document, "contentType");
  const std::optional<bson::ValueView> metadata = document.find("metadata");
  if (!metadata || metadata->type() != bson::Type::kDocument) return file;
  const bson::View fields = metadata->as_document();
  if (!file.content_type) file.content_type = read_string(fields, "contentType");
  const std::optional<bson::ValueView> sparse = fields.find("sparse");
  file.sparse = sparse && sparse->type() == bson::Type::kBool && sparse->as_bool();
  if (file.sparse) {
    const std::optional<bson::ValueView> stored = fields.find("storedChunks");
    file.stored_chunks = stored ? stored->integral() : std::nullopt;
    if (file.stored_chunks && *file.stored_chunks < 0) file.stored_chunks.reset();
  }
  const std::optional<bson::ValueView> posix = fields.find("posix");
  if (posix && posix->type() == bson::Type::kDocument) {
    file.posix = read_posix_fields(posix->as_document());
    file.allocated = read_allocated(posix->as_document(), max_file_bytes(file.chunk_bytes));
  }
  return file;
}

}  // namespace gridmount::gridfs
