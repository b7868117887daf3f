#include "engine/local/files/meta_page.h"

#include <bit>
#include <cstring>
#include <string>

#include "engine/local/format/lmdb_layout.h"
#include "engine/local/format/raw_number.h"

namespace gridmount::local {
namespace {

static_assert(std::endian::native == std::endian::little && sizeof(void*) == 8,
              "data.mdb has LMDB's native layout; stores are defined for 64-bit little-endian");

constexpr size_t kPageBytesOffset = lmdb::kFreeTreeOffset;  // md_pad of the free tree
constexpr size_t kEnvironmentFlags = lmdb::kFreeTreeOffset + 4;
constexpr size_t kMainFlags = lmdb::kMainTreeOffset + 4;
static_assert(lmdb::kMetaBytes == kMetaBytes);

constexpr uint16_t kExpectedFlags = 0x4008;  // MDB_NOSUBDIR, and the free tree's MDB_INTEGERKEY
constexpr uint32_t kPageBytesMin = 512;
constexpr uint32_t kPageBytesMax = 32768;
constexpr uint64_t kFileBytesMax = uint64_t{1} << 47;  // the address space of a process

std::string defect(std::span<const uint8_t> bytes) {
  if (bytes.size() < kMetaBytes) return "the file ends within it";
  if (load<uint32_t>(bytes, lmdb::kMagicOffset) != lmdb::kMagic)
    return "it does not have LMDB's magic number";
  if (const auto version = load<uint32_t>(bytes, lmdb::kVersionOffset); version != lmdb::kVersion) {
    return "its LMDB version is " + std::to_string(version) + ", not 1";
  }
  if (lmdb::page_flags(bytes.data()) != lmdb::kMetaPage) return "it is not flagged as a meta page";
  const auto page_bytes = load<uint32_t>(bytes, kPageBytesOffset);
  if (!std::has_single_bit(page_bytes) || page_bytes < kPageBytesMin ||
      page_bytes > kPageBytesMax) {
    return "its page size is " + std::to_string(page_bytes);
  }
  if (load<uint16_t>(bytes, kEnvironmentFlags) != kExpectedFlags ||
      load<uint16_t>(bytes, kMainFlags) != 0) {
    return "its flags are not a store's";
  }
  const auto last_page = load<uint64_t>(bytes, lmdb::kLastPageOffset);
  if (last_page < 1 || last_page >= kFileBytesMax / page_bytes) {
    return "its last page number is " + std::to_string(last_page);
  }
  if (load<uint64_t>(bytes, lmdb::kMapBytesOffset) > kFileBytesMax)
    return "its map size is impossible";
  for (const size_t tree : {lmdb::kFreeTreeOffset, lmdb::kMainTreeOffset}) {
    const uint64_t page = lmdb::tree_record(bytes.data() + tree).root;
    if (page != lmdb::kNoPage && (page < 2 || page > last_page)) {
      return "a root page number is " + std::to_string(page);
    }
  }
  return {};
}

}  // namespace

Result<MetaPage> parse_meta_page(std::span<const uint8_t> bytes) {
  if (const std::string what = defect(bytes); !what.empty()) {
    return fail(ErrorCode::kStoreDamaged, what);
  }
  return MetaPage{.page_bytes = load<uint32_t>(bytes, kPageBytesOffset),
                  .last_page = load<uint64_t>(bytes, lmdb::kLastPageOffset),
                  .txn = load<uint64_t>(bytes, lmdb::kTransactionOffset)};
}

Result<MetaPair> parse_meta_pair(const std::array<MetaBytes, 2>& bytes) {
  MetaPair pair{.bytes = bytes, .current = {}, .previous_txn = 0};
  std::array<MetaPage, 2> pages;
  for (size_t i = 0; i < 2; ++i) {
    Result<MetaPage> page = parse_meta_page(bytes[i]);
    if (!page) {
      return fail(
          std::move(page).error().with_context("meta page " + std::to_string(i) + " is damaged"));
    }
    pages[i] = *page;
    if (load<uint64_t>(bytes[i], lmdb::kPageNumberOffset) != i) {
      return fail(ErrorCode::kStoreDamaged,
                  "meta page " + std::to_string(i) + " is damaged: it has another page's number");
    }
  }
  if (pages[0].page_bytes != pages[1].page_bytes) {
    return fail(ErrorCode::kStoreDamaged, "the meta pages give different page sizes");
  }
  const size_t newest = pages[0].txn < pages[1].txn ? 1 : 0;
  pair.current = pages[newest];
  // Transaction n writes page n % 2; a new file's pages both have transaction 0.
  if (pair.current.txn % 2 != newest) {
    return fail(ErrorCode::kStoreDamaged, "the meta pages have exchanged places");
  }
  pair.previous_txn = pages[1 - newest].txn;
  return pair;
}

Result<MetaPair> read_meta_pair(const system::File& data) {
  std::array<MetaBytes, 2> bytes{};
  uint64_t offset = 0;
  for (size_t i = 0; i < 2; ++i) {
    GM_ASSIGN(const std::vector<uint8_t> read, data.read(offset, kMetaBytes));
    if (read.size() == kMetaBytes) std::memcpy(bytes[i].data(), read.data(), kMetaBytes);
    if (i == 0) {
      Result<MetaPage> first = parse_meta_page(read);
      if (!first) return fail(std::move(first).error().with_context("meta page 0 is damaged"));
      offset = first->page_bytes;
    }
  }
  return parse_meta_pair(bytes);
}

Status repair_half_written_meta(const system::File& data, uint32_t page_bytes) {
  std::array<MetaBytes, 2> bytes{};
  for (size_t i = 0; i < 2; ++i) {
    GM_ASSIGN(const std::vector<uint8_t> read, data.read(i * page_bytes, kMetaBytes));
    if (read.size() < kMetaBytes) return {};
    std::memcpy(bytes[i].data(), read.data(), kMetaBytes);
  }
  const size_t older = load<uint64_t>(bytes[0], lmdb::kTransactionOffset) <
                               load<uint64_t>(bytes[1], lmdb::kTransactionOffset)
                           ? 0
                           : 1;
  const Result<MetaPage> current = parse_meta_page(bytes[1 - older]);
  if (parse_meta_page(bytes[older]) || !current || current->txn % 2 == older) return {};
  MetaBytes repaired = bytes[1 - older];
  store(repaired, lmdb::kPageNumberOffset, uint64_t{older});
  store(repaired, lmdb::kTransactionOffset, current->txn - 1);
  return data.write(older * page_bytes, repaired);
}

Status write_meta_pair(const system::File& data, const MetaPair& pair) {
  for (size_t i = 0; i < 2; ++i) {
    GM_TRY(data.write(i * pair.current.page_bytes, pair.bytes[i]));
  }
  return {};
}

}  // namespace gridmount::local
