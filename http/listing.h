// The listing of a directory, or of the buckets, as a page of HTML or as JSON.
//
// The listing takes the entries one by one while the reply is sent, so the memory does not grow
// with their number. Not thread-safe.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "engine/base/error.h"
#include "http/reply.h"

namespace gridmount::http {

struct ListedEntry {
  enum class Kind { kDirectory, kFile, kSymlink, kOther };

  std::string name;  // may have any bytes but NUL and slashes
  Kind kind = Kind::kFile;
  int64_t size = 0;                                   // of a file
  std::optional<int64_t> modified_milliseconds = {};  // since 1970
  std::string id_json = {};  // of a file: the _id in canonical Extended JSON
};

// Returns the next entry, or nothing at the end.
using EntrySource = std::function<Result<std::optional<ListedEntry>>()>;

enum class ListingForm { kHtml, kJson };

// The body with the entries of the directory that `components` lead to. In HTML it is a page that
// has no scripts and loads nothing from other URLs. In JSON it is an object {path, entries}, as
// doc/http.md describes it. Bytes that are not UTF-8 are shown as U+FFFD, and percent-encoded in
// links.
class Listing final : public Body {
 public:
  Listing(ListingForm form, std::vector<std::string> components, EntrySource entries);

  Result<std::string_view> next() override;

 private:
  void begin();
  void end();
  void add(const ListedEntry& entry);
  void add_html(const ListedEntry& entry, const std::string& link);
  void add_json(const ListedEntry& entry, const std::string& link);

  const ListingForm form_;
  const std::vector<std::string> components_;
  const std::string path_;  // encoded, with a slash at the end
  const EntrySource entries_;
  bool has_begun_ = false;
  bool has_ended_ = false;
  bool has_entries_ = false;
  std::string piece_;
};

// Returns the text escaped for HTML, as content or as the value of an attribute in quotes.
std::string html_text(std::string_view text);
// Returns the text as a string of JSON, with its quotes.
std::string json_text(std::string_view text);

}  // namespace gridmount::http
