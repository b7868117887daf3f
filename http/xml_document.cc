#include "http/xml_document.h"

#include <expat.h>

#include <cstring>
#include <exception>
#include <memory>
#include <optional>
#include <utility>

#include "engine/bson/text.h"
#include "http/site_error.h"

namespace gridmount::http {

namespace {

// expat reports a name as its URI, this character, and the name within the namespace. XML cannot
// have this character, so no URI contains it.
constexpr char kNameSeparator = '\x01';
constexpr std::string_view kReplacement = "\xEF\xBF\xBD";

struct ParserDeleter {
  void operator()(XML_Parser parser) const { XML_ParserFree(parser); }
};
using Parser = std::unique_ptr<std::remove_pointer_t<XML_Parser>, ParserDeleter>;

XmlName name_of(std::string_view reported) {
  const size_t end = reported.find(kNameSeparator);
  if (end == std::string_view::npos) return {"", std::string(reported)};
  return {std::string(reported.substr(0, end)), std::string(reported.substr(end + 1))};
}

// Builds the tree from the reports of expat. expat is written in C, so the functions that it calls
// must not throw exceptions.
class TreeBuilder {
 public:
  explicit TreeBuilder(XML_Parser parser) : parser_(parser) {
    XML_SetUserData(parser, this);
    XML_SetElementHandler(
        parser,
        [](void* self, const XML_Char* name, const XML_Char**) {
          static_cast<TreeBuilder*>(self)->guarded([&](TreeBuilder& tree) { tree.begin(name); });
        },
        [](void* self, const XML_Char*) {
          static_cast<TreeBuilder*>(self)->guarded([](TreeBuilder& tree) { tree.end(); });
        });
    XML_SetCharacterDataHandler(parser, [](void* self, const XML_Char* text, int size) {
      static_cast<TreeBuilder*>(self)->guarded([&](TreeBuilder& tree) {
        if (!tree.open_.empty()) tree.open_.back().text.append(text, static_cast<size_t>(size));
      });
    });
    XML_SetStartDoctypeDeclHandler(
        parser, [](void* self, const XML_Char*, const XML_Char*, const XML_Char*, int) {
          static_cast<TreeBuilder*>(self)->guarded([](TreeBuilder& tree) {
            tree.stop({ErrorCode::kBadValue, "the XML has a document type declaration"});
          });
        });
  }

  const std::optional<Error>& error() const { return error_; }
  // Throws the exception that a handler has caught, if there is one.
  void rethrow() const {
    if (exception_) std::rethrow_exception(exception_);
  }
  XmlElement take_root() { return std::move(root_); }

 private:
  template <typename Work>
  void guarded(const Work& work) {
    // expat may still report the end of an empty element after XML_StopParser().
    if (error_ || exception_) return;
    try {
      work(*this);
    } catch (...) {
      exception_ = std::current_exception();
      XML_StopParser(parser_, XML_FALSE);
    }
  }

  void stop(Error error) {
    error_ = std::move(error);
    XML_StopParser(parser_, XML_FALSE);
  }

  void begin(const XML_Char* name) {
    if (open_.size() == kXmlDepthMax) return stop({kXmlTooLarge, "the XML is too deep"});
    if (++elements_ > kXmlElementsMax) return stop({kXmlTooLarge, "the XML has too many elements"});
    // Each name has a copy of its namespace, which the document has only once.
    name_bytes_ += std::strlen(name);
    if (name_bytes_ > kXmlNameBytesMax) return stop({kXmlTooLarge, "the XML has too long names"});
    open_.push_back({name_of(name), "", {}});
  }

  void end() {
    XmlElement done = std::move(open_.back());
    open_.pop_back();
    if (open_.empty()) {
      root_ = std::move(done);
    } else {
      open_.back().children.push_back(std::move(done));
    }
  }

  const XML_Parser parser_;
  std::vector<XmlElement> open_;  // from the root to the innermost
  XmlElement root_;
  size_t elements_ = 0;
  size_t name_bytes_ = 0;
  std::optional<Error> error_;
  std::exception_ptr exception_;
};

// Returns true for the characters that a document of XML 1.0 cannot have.
bool is_impossible(std::string_view character) {
  const auto first = static_cast<unsigned char>(character[0]);
  if (character.size() == 1) {
    return first >= 0x80 || (first < 0x20 && first != '\t' && first != '\n' && first != '\r');
  }
  return character == "\xEF\xBF\xBE" || character == "\xEF\xBF\xBF";
}

}  // namespace

const XmlElement* XmlElement::child(std::string_view dav_name) const {
  for (const XmlElement& each : children) {
    if (each.name.is_dav(dav_name)) return &each;
  }
  return nullptr;
}

Result<XmlElement> parse_xml(std::string_view text) {
  if (text.size() > kXmlBytesMax) return fail(kXmlTooLarge, "the XML is too long");
  const Parser parser(XML_ParserCreateNS(nullptr, kNameSeparator));
  if (!parser) return fail(ErrorCode::kInternalError, "no parser of XML: out of memory");
  TreeBuilder tree(parser.get());
  constexpr int kIsWhole = 1;
  const XML_Status parsed =
      XML_Parse(parser.get(), text.data(), static_cast<int>(text.size()), kIsWhole);
  tree.rethrow();
  if (tree.error()) return fail(*tree.error());
  if (parsed != XML_STATUS_OK) {
    return fail(ErrorCode::kBadValue, std::string("the XML is not well-formed: ") +
                                          XML_ErrorString(XML_GetErrorCode(parser.get())));
  }
  return tree.take_root();
}

std::string xml_text(std::string_view text) {
  std::string escaped;
  for (size_t at = 0; at < text.size();) {
    const std::string_view character = bson::character_at(text, at);
    at += character.size();
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
      case '\t':
        escaped += "&#9;";
        break;
      case '\n':
        escaped += "&#10;";
        break;
      case '\r':
        escaped += "&#13;";
        break;
      default:
        escaped += is_impossible(character) ? kReplacement : character;
    }
  }
  return escaped;
}

std::string xml_element(const XmlName& name, std::string_view content) {
  const bool is_dav = name.space == "DAV:";
  // This namespace always has the prefix "xml", and no other declaration may name it.
  const bool is_xml = name.space == "http://www.w3.org/XML/1998/namespace";
  const std::string tag = (is_dav ? "D:" : is_xml ? "xml:" : "") + name.name;
  std::string element = "<" + tag;
  if (!is_dav && !is_xml) element += " xmlns=\"" + xml_text(name.space) + "\"";
  if (content.empty()) return element + "/>";
  element += ">";
  element += content;
  return element + "</" + tag + ">";
}

}  // namespace gridmount::http
