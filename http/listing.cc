#include "http/listing.h"

#include <fmt/core.h>

#include <utility>

#include "engine/bson/text.h"
#include "http/http_date.h"
#include "http/target.h"

namespace gridmount::http {

namespace {

// A piece is sent when it has this many bytes.
constexpr size_t kPieceBytes = size_t{32} * 1024;

constexpr std::string_view kStyle =
    "body{font-family:sans-serif;margin:2em}"
    "table{border-collapse:collapse}"
    "th,td{padding:.2em 1.5em .2em 0;text-align:left;white-space:pre}"
    ".n{text-align:right}";

// Calls `write` with each character of the text, and with U+FFFD for each byte that is not part of
// a character.
template <typename Write>
void for_each_character(std::string_view text, const Write& write) {
  for (size_t at = 0; at < text.size();) {
    const std::string_view character = bson::character_at(text, at);
    const bool is_valid = character.size() > 1 || static_cast<unsigned char>(character[0]) < 0x80;
    write(is_valid ? character : std::string_view("\xEF\xBF\xBD"));
    at += character.size();
  }
}

std::string_view kind_name(ListedEntry::Kind kind) {
  switch (kind) {
    case ListedEntry::Kind::kDirectory:
      return "directory";
    case ListedEntry::Kind::kFile:
      return "file";
    case ListedEntry::Kind::kSymlink:
      return "symlink";
    case ListedEntry::Kind::kOther:
      return "other";
  }
  return "other";
}

std::string shown_path(const std::vector<std::string>& components) {
  std::string path = "/";
  for (const std::string& component : components) path += component + "/";
  return path;
}

std::string link_of(const std::vector<std::string>& components) {
  std::string path = path_of(components);
  if (!components.empty()) path += '/';
  return path;
}

}  // namespace

std::string html_text(std::string_view text) {
  std::string escaped;
  for_each_character(text, [&](std::string_view character) {
    switch (character[0]) {
      case '&':
        escaped += "&amp;";
        break;
      case '<':
        escaped += "&lt;";
        break;
      case '>':
        escaped += "&gt;";
        break;
      case '"':
        escaped += "&quot;";
        break;
      case '\'':
        escaped += "&#39;";
        break;
      default:
        escaped += character;
    }
  });
  return escaped;
}

std::string json_text(std::string_view text) {
  std::string escaped = "\"";
  for_each_character(text, [&](std::string_view character) {
    const char c = character[0];
    if (c == '"' || c == '\\') {
      escaped += '\\';
      escaped += c;
    } else if (static_cast<unsigned char>(c) < 0x20) {
      escaped += fmt::format("\\u{:04x}", static_cast<int>(c));
    } else {
      escaped += character;
    }
  });
  return escaped + "\"";
}

Listing::Listing(ListingForm form, std::vector<std::string> components, EntrySource entries)
    : form_(form),
      components_(std::move(components)),
      path_(link_of(components_)),
      entries_(std::move(entries)) {}

Result<std::string_view> Listing::next() {
  piece_.clear();
  if (!has_begun_) begin();
  while (!has_ended_ && piece_.size() < kPieceBytes) {
    GM_ASSIGN(const std::optional<ListedEntry> entry, entries_());
    if (entry) {
      add(*entry);
    } else {
      end();
    }
  }
  return std::string_view(piece_);
}

void Listing::begin() {
  has_begun_ = true;
  const std::string path = shown_path(components_);
  if (form_ == ListingForm::kJson) {
    piece_ = "{\"path\": " + json_text(path) + ", \"entries\": [";
    return;
  }
  const std::string title = html_text(path);
  piece_ = fmt::format(
      "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
      "<title>{}</title>\n<style>{}</style>\n</head>\n<body>\n<h1>{}</h1>\n<table>\n"
      "<tr><th>Name</th><th class=\"n\">Bytes</th><th>Changed (UTC)</th></tr>\n",
      title, kStyle, title);
  if (components_.empty()) return;
  std::vector<std::string> parent = components_;
  parent.pop_back();
  piece_ +=
      fmt::format("<tr><td><a href=\"{}\">..</a></td><td></td><td></td></tr>\n", link_of(parent));
}

void Listing::end() {
  has_ended_ = true;
  piece_ += form_ == ListingForm::kJson ? "\n]}\n" : "</table>\n</body>\n</html>\n";
}

void Listing::add(const ListedEntry& entry) {
  std::string link = path_ + percent_encoded(entry.name);
  if (entry.kind == ListedEntry::Kind::kDirectory) link += '/';
  if (form_ == ListingForm::kJson) {
    add_json(entry, link);
  } else {
    add_html(entry, link);
  }
  has_entries_ = true;
}

void Listing::add_html(const ListedEntry& entry, const std::string& link) {
  std::string name = html_text(entry.name);
  if (entry.kind == ListedEntry::Kind::kDirectory) name += '/';
  std::string time;
  if (entry.modified_milliseconds) {
    time = iso_time(*entry.modified_milliseconds).substr(0, 19);
    time[10] = ' ';
  }
  const bool has_link =
      entry.kind == ListedEntry::Kind::kDirectory || entry.kind == ListedEntry::Kind::kFile;
  piece_ += has_link ? fmt::format("<tr><td><a href=\"{}\">{}</a></td>", link, name)
                     : fmt::format("<tr><td>{} ({})</td>", name, kind_name(entry.kind));
  piece_ +=
      fmt::format("<td class=\"n\">{}</td><td>{}</td></tr>\n",
                  entry.kind == ListedEntry::Kind::kFile ? std::to_string(entry.size) : "", time);
}

void Listing::add_json(const ListedEntry& entry, const std::string& link) {
  piece_ += fmt::format("{}\n{{\"name\": {}, \"type\": \"{}\"", has_entries_ ? "," : "",
                        json_text(entry.name), kind_name(entry.kind));
  if (entry.kind == ListedEntry::Kind::kFile) piece_ += fmt::format(", \"size\": {}", entry.size);
  if (entry.modified_milliseconds) {
    piece_ += fmt::format(", \"modified\": \"{}\"", iso_time(*entry.modified_milliseconds));
  }
  if (!entry.id_json.empty()) piece_ += ", \"id\": " + entry.id_json;
  piece_ += ", \"href\": " + json_text(link) + "}";
}

}  // namespace gridmount::http
