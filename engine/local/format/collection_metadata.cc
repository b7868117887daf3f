#include "engine/local/format/collection_metadata.h"

#include "engine/bson/builder.h"
#include "engine/checksum/crc32c.h"
#include "engine/local/format/raw_number.h"
#include "engine/query/filter/filter_budget.h"
#include "engine/query/interruption.h"

namespace gridmount::local {
namespace {

constexpr size_t kDocumentChecksumBytes = 4;
constexpr size_t kUuidBytes = 16;
constexpr uint8_t kUuidSubtype = 4;
// The limit for an entry that is read. It is larger than the limit of encode(), because earlier
// programs wrote larger entries, and the user must be able to make them smaller.
constexpr uint32_t kReadBytesMax = 31 << 20;

void append_keyspace(bson::Builder& builder, const Keyspace& keyspace) {
  builder.append("tree", static_cast<int32_t>(keyspace.tree));
  builder.append("prefix", static_cast<int64_t>(keyspace.prefix));
}

std::optional<Keyspace> keyspace_of(bson::View document) {
  const std::optional<bson::ValueView> tree = document.find("tree");
  const std::optional<bson::ValueView> prefix = document.find("prefix");
  if (!tree || tree->type() != bson::Type::kInt32 || !prefix ||
      prefix->type() != bson::Type::kInt64) {
    return std::nullopt;
  }
  return Keyspace{static_cast<uint32_t>(tree->as_int32()),
                  static_cast<uint32_t>(prefix->as_int64())};
}

std::optional<bson::ValueView> field(bson::View document, std::string_view name, bson::Type type) {
  const std::optional<bson::ValueView> value = document.find(name);
  if (!value || value->type() != type) return std::nullopt;
  return value;
}

std::optional<IndexMetadata> index_of(bson::View document) {
  const auto name = field(document, "name", bson::Type::kString);
  const auto key = field(document, "key", bson::Type::kDocument);
  const auto unique = field(document, "unique", bson::Type::kBool);
  const auto multikey = field(document, "multikey", bson::Type::kBool);
  const std::optional<Keyspace> keyspace = keyspace_of(document);
  if (!name || !key || !unique || !multikey || !keyspace) return std::nullopt;
  IndexMetadata index;
  index.definition.name = name->as_string();
  index.definition.keys = bson::Document(key->as_document());
  index.definition.unique = unique->as_bool();
  index.definition.sparse = document.find("sparse").has_value();
  index.definition.hidden = document.find("hidden").has_value();
  if (const auto background = field(document, "background", bson::Type::kBool)) {
    index.definition.background = background->as_bool();
  }
  if (const auto partial = field(document, "partial", bson::Type::kDocument)) {
    index.definition.partial_filter = bson::Document(partial->as_document());
  }
  if (const auto seconds = field(document, "expireAfterSeconds", bson::Type::kInt64)) {
    index.definition.expire_after_seconds = seconds->as_int64();
  }
  if (const auto other = field(document, "other", bson::Type::kDocument)) {
    index.definition.other_options = bson::Document(other->as_document());
  }
  index.definition.collation.emplace();
  if (const auto collation = field(document, "collation", bson::Type::kDocument)) {
    index.definition.collation = bson::Document(collation->as_document());
    const auto version = field(document, "collator", bson::Type::kString);
    if (!version) return std::nullopt;
    index.library_version = version->as_string();
  }
  if (const auto version = field(document, "terms", bson::Type::kString)) {
    index.library_version = version->as_string();
  }
  Result<IndexKeySpec> rules = index_key_spec(index.definition);
  if (!rules) return std::nullopt;
  index.rules = std::move(rules).value();
  index.multikey = multikey->as_bool();
  index.checksums = document.find("checksums").has_value();
  index.keyspace = *keyspace;
  return index;
}

// Computes the UUID of a collection whose entry has none, from the prefix of its records, which no
// other collection of the store has. (RFC 9562, version 8; the mixing function is that of
// SplitMix64.)
std::string derived_uuid(const Keyspace& records) {
  std::string uuid;
  for (uint64_t i = 1; i <= 2; ++i) {
    uint64_t mixed = (uint64_t{2} * records.prefix + i) * 0x9e3779b97f4a7c15;
    mixed = (mixed ^ mixed >> 30) * 0xbf58476d1ce4e5b9;
    mixed = (mixed ^ mixed >> 27) * 0x94d049bb133111eb;
    append_big_endian_64(uuid, mixed ^ mixed >> 31);
  }
  set_uuid_version(uuid, 8);
  return uuid;
}

std::shared_ptr<const CollectionMetadata> metadata_of(const engine::Namespace& ns,
                                                      bson::View document) {
  const auto records = field(document, "records", bson::Type::kDocument);
  const auto options = field(document, "options", bson::Type::kDocument);
  const auto indexes = field(document, "indexes", bson::Type::kArray);
  if (!records || !options || !indexes) return nullptr;
  // The checksum does not cover the key, so compare the name.
  const auto name = field(document, "ns", bson::Type::kString);
  if (name && name->as_string() != ns.full()) return nullptr;
  auto metadata = std::make_shared<CollectionMetadata>();
  metadata->ns = ns;
  const std::optional<Keyspace> keyspace = keyspace_of(records->as_document());
  if (!keyspace) return nullptr;
  metadata->records = *keyspace;
  metadata->options = bson::Document(options->as_document());
  if (const auto uuid = field(document, "uuid", bson::Type::kBinary)) {
    const bson::Binary binary = uuid->as_binary();
    if (binary.size != kUuidBytes) return nullptr;
    metadata->uuid.assign(reinterpret_cast<const char*>(binary.data), binary.size);
  } else {
    metadata->uuid = derived_uuid(metadata->records);
  }
  for (const bson::Element element : indexes->as_document()) {
    if (element.value.type() != bson::Type::kDocument) return nullptr;
    std::optional<IndexMetadata> index = index_of(element.value.as_document());
    if (!index) return nullptr;
    metadata->indexes.push_back(std::move(*index));
  }
  if (metadata->indexes.empty() || metadata->indexes[0].definition.name != kIdIndexName)
    return nullptr;
  if (!metadata->derive()) return nullptr;
  return metadata;
}

}  // namespace

Status check_indexes_are_current(const CollectionMetadata& metadata) {
  for (const IndexMetadata& index : metadata.indexes) {
    if (!index.is_outdated()) continue;
    return fail(ErrorCode::kIllegalOperation,
                metadata.ns.full() + " cannot be written: its index '" + index.definition.name +
                    "' has strings of the libraries' version " + index.library_version +
                    ", but this program has version " + index.rules.library_version() +
                    "; run 'gridstore check --repair', which makes the index anew");
  }
  return {};
}

void set_uuid_version(std::string& uuid, uint8_t version) {
  uuid[6] = static_cast<char>((uuid[6] & 0x0f) | version << 4);
  uuid[8] = static_cast<char>((uuid[8] & 0x3f) | 0x80);
}

Status CollectionMetadata::derive() {
  definitions.clear();
  multikey.clear();
  text_index.reset();
  for (const IndexMetadata& index : indexes) {
    definitions.push_back(index.definition);
    if (index.is_outdated()) definitions.back().hidden = true;
    multikey.push_back(index.multikey);
    if (index.is_readable() && index.rules.text != nullptr) text_index = index.rules.text;
  }
  GM_ASSIGN(settings, engine::CollectionOptions::parse(ns, options));
  validator.reset();
  collator.reset();
  if (settings.collation) {
    GM_ASSIGN(collator, query::Collator::parse(*settings.collation));
  }
  if (settings.validator && settings.level != engine::CollectionOptions::ValidationLevel::kOff) {
    // The parsed filter outlives one command. Without a fixed `now`, $$NOW is the time of each
    // write.
    GM_ASSIGN(query::Filter filter,
              query::Filter::parse(
                  *settings.validator,
                  {.now = std::nullopt, .explains_failures = true, .collator = collator}));
    validator = std::make_shared<const query::Filter>(std::move(filter));
  }
  return {};
}

Result<std::string> CollectionMetadata::encode() const {
  bson::Builder builder;
  builder.open_document("records");
  append_keyspace(builder, records);
  builder.close();
  builder.append("ns", ns.full());
  builder.append("options", options);
  if (!uuid.empty()) {
    builder.append("uuid", bson::Binary{.subtype = kUuidSubtype,
                                        .data = reinterpret_cast<const uint8_t*>(uuid.data()),
                                        .size = static_cast<uint32_t>(uuid.size())});
  }
  builder.open_array("indexes");
  for (const IndexMetadata& index : indexes) {
    builder.push_open_document();
    builder.append("name", index.definition.name).append("key", index.definition.keys);
    builder.append("unique", index.definition.unique).append("multikey", index.multikey);
    if (index.definition.sparse) builder.append("sparse", true);
    if (index.definition.hidden) builder.append("hidden", true);
    if (index.definition.background) builder.append("background", *index.definition.background);
    if (index.definition.partial_filter) {
      builder.append("partial", *index.definition.partial_filter);
    }
    if (index.definition.expire_after_seconds) {
      builder.append("expireAfterSeconds", *index.definition.expire_after_seconds);
    }
    if (!index.definition.other_options.view().empty()) {
      builder.append("other", index.definition.other_options);
    }
    if (const bson::Document* const collation = index.definition.own_collation()) {
      builder.append("collation", *collation).append("collator", index.library_version);
    }
    if (index.rules.text != nullptr) builder.append("terms", index.library_version);
    if (index.checksums) builder.append("checksums", true);
    append_keyspace(builder, index.keyspace);
    builder.close();
  }
  builder.close();
  const bson::Document document = std::move(builder).finish();

  const bson::View view = document;
  // Other code could not read an entry that exceeds the limits of a document.
  if (const Result<bson::View> readable = bson::validate(view.bytes()); !readable) {
    const bool is_large = readable.error().code() == ErrorCode::kBsonObjectTooLarge;
    return fail(
        is_large ? ErrorCode::kBsonObjectTooLarge : ErrorCode::kOverflow,
        ns.full() + ": the options of the collection and the definitions of its indexes " +
            (is_large ? "take " + std::to_string(view.size()) + " bytes together; the limit is " +
                            std::to_string(bson::kMaxDocumentBytes)
                      : "are nested deeper than " + std::to_string(bson::kMaxDepth) + " levels"));
  }
  std::string bytes;
  append_big_endian_32(bytes, crc32c(view.bytes()));
  bytes.append(reinterpret_cast<const char*>(view.data()), view.size());
  return bytes;
}

bool CollectionMetadata::is_metadata_of(const engine::Namespace& ns, std::string_view bytes) {
  if (bytes.size() <= kDocumentChecksumBytes) return false;
  const std::span<const uint8_t> document = bytes_of(bytes.substr(kDocumentChecksumBytes));
  if (crc32c(document) != big_endian_32(bytes)) return false;
  const Result<bson::View> view = bson::validate(document, kReadBytesMax);
  if (!view) return false;
  const auto name = field(*view, "ns", bson::Type::kString);
  return !name || name->as_string() == ns.full();
}

Result<std::shared_ptr<const CollectionMetadata>> CollectionMetadata::decode(
    const engine::Namespace& ns, std::string_view bytes) {
  if (bytes.size() > kDocumentChecksumBytes) {
    const std::span<const uint8_t> document = bytes_of(bytes.substr(kDocumentChecksumBytes));
    if (crc32c(document) == big_endian_32(bytes)) {
      if (Result<bson::View> view = bson::validate(document, kReadBytesMax)) {
        // All commands share the parsed filters of the entry. If a limit of the command that reads
        // the entry first ended the parsing, the entry would look damaged.
        const query::UninterruptedScope without_interruptions;
        const query::FilterBudgetScope without_budget(nullptr);
        if (std::shared_ptr<const CollectionMetadata> metadata = metadata_of(ns, *view))
          return metadata;
      }
    }
  }
  return fail(ErrorCode::kStoreDamaged, "the catalog's entry of " + ns.full() +
                                            " is damaged; restore the store from a backup");
}

}  // namespace gridmount::local
