#include "tools/gridfiles/file_copy.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <string_view>

#include "engine/bson/builder.h"
#include "gridfs/namespace/aliases.h"
#include "tools/gridfiles/file_query.h"
#include "tools/gridfiles/interruption.h"
#include "tools/quoted.h"

namespace gridmount::tools {

namespace {

constexpr size_t kCopiedBytes = 1024 * 1024;

template <size_t Size>
void append_except(bson::Builder& builder, bson::View document,
                   const std::array<std::string_view, Size>& left_out) {
  for (const bson::Element field : document) {
    if (std::find(left_out.begin(), left_out.end(), field.key) != left_out.end()) continue;
    builder.append(field.key, field.value);
  }
}

// Returns the source's metadata without the fields that describe its chunks and its additional
// names. Returns an empty document if the source has no metadata.
bson::Document copied_metadata(bson::View source) {
  constexpr std::array<std::string_view, 3> kOfChunks = {"sparse", "storedChunks", "posix"};
  constexpr std::array<std::string_view, 2> kOfFile = {"links", "allocated"};
  const auto metadata = source.find("metadata");
  if (!metadata || metadata->type() != bson::Type::kDocument) return bson::Document();
  bson::Builder builder;
  append_except(builder, metadata->as_document(), kOfChunks);
  const auto posix = metadata->as_document().find("posix");
  if (posix && posix->type() == bson::Type::kDocument) {
    builder.open_document("posix");
    append_except(builder, posix->as_document(), kOfFile);
    builder.close();
  }
  return std::move(builder).finish();
}

// Returns the elements of `aliases`, or no elements in a bucket where a mount shows aliases as
// names.
Result<bson::Document> copied_aliases(const gridfs::Bucket& bucket, bson::View source) {
  const auto aliases = source.find("aliases");
  if (!aliases || aliases->type() != bson::Type::kArray) return bson::Document();
  const gridfs::Aliases names(bucket);
  GM_ASSIGN(const auto snapshot, bucket.store().snapshot());
  GM_TRY(names.start(*snapshot));
  return names.in_use() ? bson::Document() : bson::Document(aliases->as_document());
}

Status copy_content(gridfs::DownloadStream& from, gridfs::UploadStream& to,
                    engine::Durability durability, Progress& progress) {
  for (;;) {
    GM_TRY(Interruption::check());
    GM_ASSIGN(const auto data, from.read(kCopiedBytes));
    if (data.empty()) return to.close(durability);
    GM_TRY(to.write(data));
    progress.add(data.size());
  }
}

}  // namespace

Result<bson::Value> copy_file(const CommandContext& context, bson::View source,
                              const std::string& name, std::optional<bson::Date> upload_date_min) {
  const auto with_context = [&](Error error) {
    return fail(std::move(error).with_context(
        "error while copying " + in_quotes(filename_of(source)) + " to " + in_quotes(name)));
  };
  auto from = context.bucket.open_download_stream(source["_id"]);
  if (!from) return with_context(std::move(from).error());
  GM_ASSIGN(const bson::Document aliases, copied_aliases(context.bucket, source));
  const bson::Document metadata = copied_metadata(source);
  gridfs::UploadOptions options;
  options.chunk_bytes = std::min((*from)->file().chunk_bytes, gridfs::kMaxChunkBytes);
  options.upload_date_min = upload_date_min;
  options.metadata = metadata;
  options.aliases = aliases;
  const auto content_type = source.find("contentType");
  if (content_type && content_type->type() == bson::Type::kString) {
    options.content_type = std::string(content_type->as_string());
  }
  context.progress.set_subject(name);
  context.progress.expect(static_cast<uint64_t>((*from)->file().length));
  auto to = context.bucket.open_upload_stream(name, options);
  if (!to) return with_context(std::move(to).error());
  Status copied =
      copy_content(**from, **to, context.options.write_concern.durability(), context.progress);
  if (copied) return (*to)->id();
  // Returns the first error. If abort() fails, the next start of a program removes the rest of the
  // copy.
  static_cast<void>((*to)->abort());
  if (copied.error().code() == ErrorCode::kInterrupted) return fail(std::move(copied).error());
  return with_context(std::move(copied).error());
}

}  // namespace gridmount::tools
