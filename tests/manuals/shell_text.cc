#include "tests/manuals/shell_text.h"

#include <gtest/gtest.h>

#include <cctype>

#include "engine/bson/json.h"

namespace gridmount::manuals {
namespace {

bool is_name(char c) {
  return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_' || c == '$';
}

class Reader {
 public:
  explicit Reader(std::string_view text) : text_(text) {}

  std::vector<std::string> all() {
    std::vector<std::string> found;
    while (skip_to_token()) {
      if (text_[at_] == ',') {
        ++at_;
        continue;
      }
      json_.clear();
      value();
      found.push_back(json_);
    }
    return found;
  }

 private:
  // Skips blanks and comments. Returns true if anything else is left.
  bool skip_to_token() {
    while (at_ < text_.size()) {
      if (std::isspace(static_cast<unsigned char>(text_[at_])) != 0) {
        ++at_;
      } else if (text_.substr(at_, 2) == "//") {
        at_ = std::min(text_.find('\n', at_), text_.size());
      } else {
        return true;
      }
    }
    return false;
  }

  char peek() { return skip_to_token() ? text_[at_] : '\0'; }

  void bad(std::string_view what) {
    ADD_FAILURE() << "the text of an example: " << what << " at " << at_ << ": " << text_;
    at_ = text_.size();
  }

  void value() {
    const char first = peek();
    if (first == '{' || first == '[') {
      list(first == '{' ? '}' : ']');
    } else if (first == '"' || first == '\'') {
      json_ += string();
    } else if (first == '/') {
      pattern();
    } else if (first == '-' || first == '.' || std::isdigit(static_cast<unsigned char>(first))) {
      while (at_ < text_.size() && (is_name(text_[at_]) || text_[at_] == '.' || text_[at_] == '-'))
        json_ += text_[at_++];
    } else if (is_name(first)) {
      word();
    } else {
      bad("no value");
    }
  }

  void list(char end) {
    json_ += text_[at_++];
    while (peek() != end) {
      if (peek() == '\0') return bad("no end of a list");
      if (json_.back() != '{' && json_.back() != '[') json_ += ',';
      if (end == '}') {
        json_ += peek() == '"' || peek() == '\'' ? string() : "\"" + name() + "\"";
        if (peek() != ':') return bad("no value of a field");
        ++at_;
        json_ += ':';
      }
      value();
      if (peek() == ',') ++at_;
    }
    ++at_;
    json_ += end;
  }

  std::string name() {
    std::string found;
    while (at_ < text_.size() && is_name(text_[at_])) found += text_[at_++];
    if (found.empty()) bad("no name");
    return found;
  }

  // Returns the string with JSON's quotes.
  std::string string() {
    const char quote = text_[at_++];
    std::string found = "\"";
    while (at_ < text_.size() && text_[at_] != quote) {
      if (text_[at_] == '\\') found += text_[at_++];
      if (quote == '\'' && text_[at_] == '"') found += '\\';
      found += text_[at_++];
    }
    ++at_;
    return found + "\"";
  }

  void pattern() {
    std::string found;
    const auto append = [&]() {
      if (text_[at_] == '\\' || text_[at_] == '"') found += '\\';
      found += text_[at_];
    };
    for (++at_; at_ < text_.size() && text_[at_] != '/'; ++at_) {
      append();
      if (text_[at_] == '\\' && ++at_ < text_.size()) append();
    }
    ++at_;
    std::string options;
    while (at_ < text_.size() && is_name(text_[at_])) options += text_[at_++];
    json_ +=
        R"({"$regularExpression":{"pattern":")" + found + R"(","options":")" + options + "\"}}";
  }

  void word() {
    std::string constructor = name();
    if (constructor == "true" || constructor == "false" || constructor == "null") {
      json_ += constructor;
      return;
    }
    if (constructor == "new") {
      skip_to_token();
      constructor = name();
    }
    std::vector<std::string> arguments;
    if (peek() == '(') {
      ++at_;
      while (peek() != ')' && peek() != '\0') {
        const std::string before = std::exchange(json_, {});
        value();
        arguments.push_back(std::exchange(json_, before));
        if (peek() == ',') ++at_;
      }
      ++at_;
    }
    construct(constructor, arguments);
  }

  static std::string in_quotes(const std::string& argument) {
    return argument.front() == '"' ? argument : "\"" + argument + "\"";
  }

  void construct(const std::string& name, const std::vector<std::string>& arguments) {
    const auto is = [&](std::string_view wanted, size_t count) {
      return name == wanted && arguments.size() == count;
    };
    if (is("ObjectId", 1)) {
      json_ += R"({"$oid":)" + arguments[0] + "}";
    } else if (is("ISODate", 1)) {
      std::string date = arguments[0];  // with its quotes; midnight if it has no time
      if (date.size() == 12) date.insert(11, "T00:00:00Z");
      json_ += R"({"$date":)" + date + "}";
    } else if (is("Date", 1)) {
      json_ += R"({"$date":{"$numberLong":)" + in_quotes(arguments[0]) + "}}";
    } else if (is("NumberLong", 1) || is("NumberInt", 1) || is("NumberDecimal", 1)) {
      json_ += "{\"$n" + name.substr(1) + "\":" + in_quotes(arguments[0]) + "}";
    } else if (is("Timestamp", 2)) {
      json_ += R"({"$timestamp":{"t":)" + arguments[0] + R"(,"i":)" + arguments[1] + "}}";
    } else if (is("UUID", 1)) {
      json_ += R"({"$uuid":)" + arguments[0] + "}";
    } else if (is("MinKey", 0) || is("MaxKey", 0)) {
      json_ += "{\"$m" + name.substr(1) + "\":1}";
    } else {
      bad("no constructor known here");
    }
  }

  const std::string_view text_;
  size_t at_ = 0;
  std::string json_;
};

}  // namespace

std::vector<std::string> json_of_shell(std::string_view text) {
  return Reader(text).all();
}

std::vector<bson::Document> documents(std::string_view text) {
  std::vector<bson::Document> read;
  for (const std::string& json : json_of_shell(text)) {
    Result<bson::Document> parsed = bson::document_from_json(json);
    if (!parsed) {
      ADD_FAILURE() << json << ": " << parsed.error().message();
      continue;
    }
    read.push_back(std::move(parsed).value());
  }
  return read;
}

bson::Document document(std::string_view text) {
  std::vector<bson::Document> read = documents(text);
  EXPECT_EQ(read.size(), 1U) << text;
  return read.empty() ? bson::Document() : std::move(read.front());
}

bson::Document array(std::string_view text) {
  const bson::Document holder = document("{ a: " + std::string(text) + " }");
  const std::optional<bson::ValueView> elements = holder.find("a");
  if (!elements || elements->type() != bson::Type::kArray) {
    ADD_FAILURE() << "not an array: " << text;
    return bson::Document();
  }
  return bson::Document(elements->as_document());
}

}  // namespace gridmount::manuals
