// Finds keys in the trees of a snapshot by reading LMDB's pages itself, several at a time, so that
// the memory of one is fetched while another is searched for, and without what LMDB does for a
// cursor.
//
// What it finds is what LMDB would. Where a page is not what it should be, or a key is not there,
// it finds nothing, and LMDB is to be asked: it tells the one from the other. Source: LMDB 0.9's
// file format (tree_page.h).
//
// Thread-safety: none; belongs to a reading transaction, one thread at a time.
#pragma once

#include <lmdb.h>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "engine/local/format/range.h"

namespace gridmount::local {

// Where the pages of an environment are.
struct PageMap {
  const uint8_t* begin = nullptr;  // null: not known
  uint64_t bytes = 0;
  uint32_t page_bytes = 0;
  std::vector<std::string> tree_names = {};  // by MDB_dbi
  uint64_t id = 0;                           // no other of the process has it
};

class TreeReader {
 public:
  // At once.
  static constexpr size_t kKeysMax = 16;

  // `pages` outlives this. Views that are given hold as long as the transaction.
  TreeReader(MDB_txn* txn, const PageMap& pages) : txn_(txn), pages_(&pages) {}

  std::optional<std::string_view> find(MDB_dbi tree, std::string_view key);

  // The first entry at or above the key, if it and one below the key are in one leaf.
  struct Place {
    TreeEntry entry;
    size_t position;  // among those of the leaf
  };
  std::optional<Place> find_from(MDB_dbi tree, std::string_view key);

  struct Wanted {
    std::string_view key;
    std::optional<std::string_view> value = {};  // what is found
  };
  // At most kKeysMax.
  void find(MDB_dbi tree, std::span<Wanted> wanted);

 private:
  // A key as it is compared: its first bytes as numbers.
  struct Key;
  struct Search;
  // None of whose numbers is believed.
  class Page;

  struct Root {
    MDB_dbi tree = 0;
    unsigned depth = 0;
    uint64_t page = 0;
  };

  // The roots as a snapshot has them.
  struct Roots;

  Roots& roots();
  std::optional<Root> root_of(MDB_dbi tree);
  // To the key's place in its leaf.
  std::optional<Search> search(MDB_dbi tree, std::string_view key);
  const uint8_t* at(uint64_t number) const { return pages_->begin + number * pages_->page_bytes; }
  std::optional<Page> page(uint64_t number, uint16_t kind) const;
  std::optional<uint64_t> find_leaf(const Root& root, Search& search) const;
  void find_leaves(const Root& root, std::span<Search> searches, std::span<uint64_t> numbers) const;
  std::optional<std::string_view> value_of(const Page& leaf, const uint8_t* node) const;

  MDB_txn* txn_;
  const PageMap* pages_;
  uint64_t last_page_ = 0;  // root_of() sets it
};

}  // namespace gridmount::local
