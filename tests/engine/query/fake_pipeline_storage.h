// A PipelineStorage whose collections are in memory.
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "engine/bson/builder.h"
#include "engine/bson/compare.h"
#include "engine/query/filter/filter.h"
#include "engine/query/pipeline/pipeline.h"
#include "engine/query/sort.h"
#include "tests/engine/query/parse_json.h"

namespace gridmount::query {

// As in a store, a document is destroyed when the next one is requested.
class VectorStream : public DocumentStream {
 public:
  explicit VectorStream(std::vector<bson::Document> documents) : documents_(std::move(documents)) {}

  Result<std::optional<bson::View>> next() override {
    if (at_ > 0 && at_ <= documents_.size()) documents_[at_ - 1] = bson::Document();
    if (at_ >= documents_.size()) {
      at_ = documents_.size() + 1;
      return std::nullopt;
    }
    return documents_[at_++].view();
  }

 private:
  std::vector<bson::Document> documents_;
  size_t at_ = 0;
};

class FakePipelineStorage : public PipelineStorage {
 public:
  using Documents = std::vector<bson::Document>;

  // If true, find() returns only the requested fields of documents.
  bool minimal = false;
  std::map<CollectionName, Documents> collections;
  // The different filters of all searches so far, by collection.
  std::map<std::string, std::set<std::string>> filters;
  // The paths of each unique index except the index of _id.
  std::vector<std::set<std::string>> unique;

  // `documents` is a JSON array: [{...}, ...]
  void set(const std::string& collection, const std::string& documents) {
    Documents& to = collections[{"", collection}];
    to.clear();
    const bson::Document parsed = parse_json("{'d': " + documents + "}");
    for (const bson::Element element : parsed.view()["d"].as_document()) {
      to.emplace_back(element.value.as_document());
    }
  }
  std::string shown(const std::string& collection) const {
    const auto found = collections.find({"", collection});
    return found == collections.end() ? "none" : show_all(found->second);
  }
  static std::string show_all(const Documents& documents) {
    std::string text;
    for (const bson::Document& document : documents) text += show(document) + "\n";
    return text;
  }

  Result<std::unique_ptr<DocumentStream>> find(const CollectionName& collection,
                                               const FindRequest& request) override {
    filters[collection.collection].insert(show(request.filter));
    GM_ASSIGN(const Filter filter, Filter::parse(request.filter));
    Documents found;
    if (const auto at = collections.find(collection); at != collections.end()) {
      for (const bson::Document& document : at->second) {
        GM_ASSIGN(const bool matches, filter.evaluate(document));
        if (matches) found.push_back(document);
      }
    }
    if (!request.sort.view().empty()) {
      GM_ASSIGN(const Sort sort, Sort::parse(request.sort));
      for (const bson::View document : found) GM_TRY(sort.key_of(document));
      std::stable_sort(found.begin(), found.end(), [&](bson::View a, bson::View b) {
        return sort.compare_keys(*sort.key_of(a), *sort.key_of(b)) < 0;
      });
    }
    const auto skip = std::min(static_cast<uint64_t>(request.skip), uint64_t{found.size()});
    found.erase(found.begin(), found.begin() + static_cast<std::ptrdiff_t>(skip));
    if (request.limit && static_cast<uint64_t>(*request.limit) < found.size()) {
      found.resize(static_cast<size_t>(*request.limit));
    }
    if (minimal && request.fields) {
      for (bson::Document& document : found) {
        GM_ASSIGN(document, only(*request.fields, document));
      }
    }
    return std::make_unique<VectorStream>(std::move(found));
  }

  Result<bson::Document> collection_stats(const CollectionName& collection,
                                          bson::View options) override {
    bson::Builder stats;
    stats.append("ns", "test." + collection.collection);
    for (const bson::Element option : options) stats.append(option.key, option.value);
    return std::move(stats).finish();
  }

  Result<std::vector<bson::Document>> index_stats(const CollectionName& collection) override {
    std::vector<bson::Document> stats;
    for (const char* name : {"_id_", "a_1"}) {
      bson::Builder builder;
      builder.append("name", name).append("host", collection.collection);
      stats.push_back(std::move(builder).finish());
    }
    return stats;
  }

  Result<std::unique_ptr<CollectionReplacement>> replace_collection(
      const CollectionName& collection) override {
    class FakeReplacement : public CollectionReplacement {
     public:
      explicit FakeReplacement(Documents& target) : target_(target) {}
      Status add(bson::View document) override {
        documents_.emplace_back(document);
        return {};
      }
      Status finish() override {
        target_ = std::move(documents_);
        return {};
      }

     private:
      Documents& target_;
      Documents documents_;
    };
    return std::make_unique<FakeReplacement>(collections[collection]);
  }

  Result<bool> has_unique_index(const CollectionName&,
                                const std::set<std::string>& paths) override {
    if (paths == std::set<std::string>{"_id"}) return true;
    return std::find(unique.begin(), unique.end(), paths) != unique.end();
  }

  Result<std::optional<bson::Document>> find_for_merge(const CollectionName& collection,
                                                       bson::View filter) override {
    GM_ASSIGN(const Filter parsed, Filter::parse(filter));
    for (const bson::Document& document : collections[collection]) {
      if (parsed.matches(document)) return document;
    }
    return std::nullopt;
  }

  Status insert(const CollectionName& collection, bson::View document, EmptyTimestamps) override {
    Documents& documents = collections[collection];
    for (const bson::Document& known : documents) {
      const std::optional<bson::ValueView> id = document.find("_id");
      if (id && bson::compare(*known.find("_id"), *id) == 0) {
        return fail(ErrorCode::kDuplicateKey, "E11000 duplicate key error");
      }
    }
    bson::Builder builder;
    if (!document.find("_id")) builder.append("_id", bson::ObjectId::generate());
    documents.push_back(std::move(builder.append_all(document)).finish());
    return {};
  }

  Status replace(const CollectionName& collection, bson::View document, EmptyTimestamps) override {
    for (bson::Document& known : collections[collection]) {
      if (bson::compare(*known.find("_id"), document["_id"]) != 0) continue;
      known = bson::Document(document);
      return {};
    }
    return fail(ErrorCode::kInternalError, "there is no such document");
  }

 private:
  // Returns only the fields on these paths of documents, and of documents in arrays. Values that
  // are not documents stay.
  static Result<bson::Document> only(const std::set<std::string>& paths, bson::View document) {
    bson::Builder builder;
    GM_TRY(add_fields(paths, document, builder));
    return std::move(builder).finish();
  }

  static Status add_fields(const std::set<std::string>& paths, bson::View document,
                           bson::Builder& to) {
    for (const bson::Element element : document) {
      std::set<std::string> below;
      const std::string prefix = std::string(element.key) + ".";
      for (const std::string& path : paths) {
        if (path.starts_with(prefix)) below.insert(path.substr(prefix.size()));
      }
      if (paths.contains(std::string(element.key))) {
        if (!below.empty()) {
          return fail(ErrorCode::kInternalError, "asked for what is below " + prefix);
        }
        to.append(element.key, element.value);
      } else if (below.empty()) {
        continue;
      } else if (element.value.type() == bson::Type::kDocument) {
        to.open_document(element.key);
        GM_TRY(add_fields(below, element.value.as_document(), to));
        to.close();
      } else if (element.value.type() == bson::Type::kArray) {
        to.open_array(element.key);
        GM_TRY(add_elements(below, element.value.as_document(), to));
        to.close();
      }
    }
    return {};
  }

  static Status add_elements(const std::set<std::string>& paths, bson::View array,
                             bson::Builder& to) {
    for (const bson::Element element : array) {
      if (element.value.type() == bson::Type::kDocument) {
        to.push_open_document();
        GM_TRY(add_fields(paths, element.value.as_document(), to));
        to.close();
      } else if (element.value.type() == bson::Type::kArray) {
        to.push_open_array();
        GM_TRY(add_elements(paths, element.value.as_document(), to));
        to.close();
      } else {
        to.push(element.value);
      }
    }
    return {};
  }
};

}  // namespace gridmount::query
