#include "tools/gridfiles/options.h"

#include <charconv>
#include <optional>
#include <string_view>

#include "command_line/connection_string.h"
#include "engine/bson/json.h"
#include "tools/gridfiles/argument_parser.h"
#include "tools/gridfiles/command.h"
#include "tools/quoted.h"

namespace gridmount::tools {

namespace {

using Argument = OptionDefinition::Argument;
using Apply = Status (*)(Options& options, const std::string& value);

constexpr Argument kNone = Argument::kNone;
constexpr Argument kRequired = Argument::kRequired;

// An option and its effect. If `apply` is null, it is an option of the connection. If the
// description is empty, mongofiles has the option but gridfiles refuses it.
struct OptionEntry {
  std::string_view group;
  OptionDefinition definition;
  Apply apply = nullptr;
};

// The numbers and letters that mongofiles accepts after -v and --verbose=: "", "3", "vv", "vv=3".
Status add_verbosity(Options& options, const std::string& value) {
  std::string_view rest = value;
  size_t letters = std::min(rest.find_first_not_of('v'), rest.size());
  rest.remove_prefix(letters);
  if (rest.empty()) {
    options.verbosity += static_cast<int>(letters) + 1;
    return {};
  }
  bool replaces = letters > 0;
  if (replaces) {
    if (rest.size() != 2 || rest[0] != '=') {
      return fail(ErrorCode::kBadValue, std::string(kInvalidVerbosity));
    }
    rest.remove_prefix(1);
  }
  int level = 0;
  auto [end, problem] = std::from_chars(rest.data(), rest.data() + rest.size(), level);
  if (problem != std::errc() || end != rest.data() + rest.size()) {
    return fail(ErrorCode::kBadValue, std::string(kInvalidVerbosity));
  }
  options.verbosity = replaces ? level : options.verbosity + level;
  return {};
}

// Sets a member. The table needs plain functions, so each member has an instance of this template.
template <auto Member>
Status set(Options& options, const std::string& value) {
  options.*Member = value;
  return {};
}
template <auto Member>
Status enable(Options& options, const std::string&) {
  options.*Member = true;
  return {};
}

// Sets a member to the document that is written in Extended JSON.
template <auto Member>
Status set_document(Options& options, const std::string& value) {
  auto document = bson::document_from_json(value);
  if (!document) {
    return fail(
        ErrorCode::kFailedToParse,
        in_quotes(value) + " is not a document in Extended JSON: " + document.error().message());
  }
  options.*Member = std::move(document).value();
  return {};
}

std::optional<int64_t> parse_position(std::string_view text) {
  int64_t position = 0;
  const auto [end, problem] = std::from_chars(text.data(), text.data() + text.size(), position);
  if (problem != std::errc() || end != text.data() + text.size() || position < 0) return {};
  return position;
}

// Parses "10-19", "10-" or "-10"; see RequestedRange.
Status set_range(Options& options, const std::string& value) {
  const std::string_view text = value;
  const size_t dash = text.find('-');
  RequestedRange range;
  if (dash != std::string_view::npos) {
    const std::string_view first = text.substr(0, dash);
    const std::string_view last = text.substr(dash + 1);
    range.first = parse_position(first);
    range.last = parse_position(last);
    const bool is_valid = (range.first || first.empty()) && (range.last || last.empty()) &&
                          (range.first || range.last) &&
                          !(range.first && range.last && *range.last < *range.first);
    if (is_valid) {
      options.range = range;
      return {};
    }
  }
  return fail(
      ErrorCode::kFailedToParse,
      "--range takes <first>-<last>, <first>- or -<number of last bytes>, not " + in_quotes(value));
}

Status set_revision(Options& options, const std::string& value) {
  int revision = 0;
  const auto [end, problem] = std::from_chars(value.data(), value.data() + value.size(), revision);
  if (problem != std::errc() || end != value.data() + value.size()) {
    return fail(ErrorCode::kFailedToParse,
                "--revision takes a whole number, for example 0 for the oldest revision and "
                "--revision=-1 for the newest, not " +
                    in_quotes(value));
  }
  options.revision = revision;
  return {};
}

Status set_jobs(Options& options, const std::string& value) {
  int jobs = 0;
  const auto [end, problem] = std::from_chars(value.data(), value.data() + value.size(), jobs);
  if (problem != std::errc() || end != value.data() + value.size() || jobs < 1 || jobs > kJobsMax) {
    return fail(ErrorCode::kFailedToParse, "--jobs takes a number from 1 to " +
                                               std::to_string(kJobsMax) + ", not " +
                                               in_quotes(value));
  }
  options.jobs = jobs;
  return {};
}

// The entries are in the order of --help.
const std::vector<OptionEntry>& entries() {
  static const std::vector<OptionEntry> kEntries = {
      {"general", {0, "help", kNone, "", "print usage"}, enable<&Options::help>},
      {"general",
       {0, "version", kNone, "", "print the tool version and exit"},
       enable<&Options::version>},
      {"verbosity",
       {'v', "verbose", Argument::kOptional, "<level>",
        "more detailed log output (-vv and -vvv for more, or a number, e.g. --verbose=N)"},
       add_verbosity},
      {"verbosity", {0, "quiet", kNone, "", "hide all log output"}, enable<&Options::quiet>},
      {"store", {0, "store", kRequired, "<folder>", "the store to use"}, set<&Options::store>},
      {"store",
       {0, "create", kNone, "", "create the store if it does not exist"},
       enable<&Options::create>},
      {"storage",
       {'d', "db", kRequired, "<database-name>", "database to use (default: test)"},
       set<&Options::database>},
      {"storage",
       {'l', "local", kRequired, "<filename>", "local filename for put|get (- is stdin|stdout)"},
       set<&Options::local>},
      {"storage",
       {'t', "type", kRequired, "<content-type>", "content/MIME type for put (optional)"},
       set<&Options::content_type>},
      {"storage",
       {'r', "replace", kNone, "", "remove other files with same name after put or cp"},
       enable<&Options::replace>},
      {"storage",
       {0, "overwriteLocal", kNone, "", "make get overwrite local files"},
       enable<&Options::overwrite_local>},
      {"storage",
       {0, "allowUnsafeTraversal", kNone, "",
        "allow get_id, get_regex and delete_id for names outside the current directory"},
       enable<&Options::allow_unsafe_traversal>},
      {"storage",
       {0, "prefix", kRequired, "<prefix>", "GridFS prefix to use (default: fs)"},
       set<&Options::prefix>},
      {"storage",
       {0, "writeConcern", kRequired, "<write-concern>",
        "write concern options e.g. --writeConcern '{w: 1, j: true}': with j each file is "
        "durable before the next one is started"},
       set<&Options::write_concern_text>},
      {"storage",
       {0, "regexOptions", kRequired, "<regex-options>", "regex options used for get_regex"},
       set<&Options::regex_options>},
      {"further",
       {0, "json", kNone, "", "print documents as Extended JSON, one per line"},
       enable<&Options::json>},
      {"further",
       {0, "filter", kRequired, "<document>",
        "list, search, verify and annotate only files whose documents match, e.g. '{\"length\": "
        "{\"$gt\": "
        "0}}'"},
       set_document<&Options::filter>},
      {"further",
       {0, "sort", kRequired, "<document>",
        "order of list, search and verify, e.g. '{\"length\": -1}'"},
       set_document<&Options::sort>},
      {"further",
       {0, "set", kRequired, "<document>",
        "fields that annotate sets or, if null, removes: '{\"contentType\": \"image/jpeg\", "
        "\"metadata\": {\"owner\": \"me\"}}'"},
       set_document<&Options::set>},
      {"further",
       {0, "range", kRequired, "<first>-<last>",
        "bytes that cat writes, counted from 0; also <first>- and -<number of last bytes>"},
       set_range},
      {"further",
       {0, "recursive", kNone, "", "put and get folders with all files below them"},
       enable<&Options::recursive>},
      {"further",
       {0, "revision", kRequired, "<number>",
        "revision that get, cat and restore use: 0 is the oldest, and --revision=-1 the newest"},
       set_revision},
      {"further",
       {0, "checksum", kNone, "", "let sync_put and sync_get compare md5 instead of times"},
       enable<&Options::checksum>},
      {"further",
       {0, "delete", kNone, "",
        "let sync_put and sync_get remove files that the source does not have"},
       enable<&Options::deletes>},
      {"further",
       {0, "dry-run", kNone, "", "let sync_put and sync_get only print what they would do"},
       enable<&Options::dry_run>},
      {"further",
       {0, "jobs", kRequired, "<number>",
        "files that put, get, sync_put and sync_get transfer at once (default: 1)"},
       set_jobs},
      {"connection",
       {0, "config", kRequired, "<file>", "YAML file with password, uri and sslPEMKeyPassword"}},
      {"connection", {0, "uri", kRequired, "<uri>", "mongodb uri connection string"}},
      {"connection",
       {'h', "host", kRequired, "<hostname>",
        "server to connect to (setname/host1,host2 for replica sets)"}},
      {"connection",
       {0, "port", kRequired, "<port>", "server port (can also use --host hostname:port)"}},
      {"connection", {0, "dialTimeout", kRequired, "<seconds>", "connection timeout"}},
      {"connection", {0, "socketTimeout", kRequired, "<seconds>", "socket timeout"}},
      {"connection", {0, "TCPKeepAliveSeconds", kRequired, "", ""}},
      {"connection",
       {0, "serverSelectionTimeout", kRequired, "<seconds>", "server selection timeout"}},
      {"connection",
       {0, "compressors", kRequired, "<names>", "compressors to offer: snappy,zstd,zlib"}},
      {"connection", {0, "ssl", kNone, "", "connect with TLS"}},
      {"connection",
       {0, "sslCAFile", kRequired, "<file>",
        "PEM file with the certificate authorities for servers"}},
      {"connection",
       {0, "sslPEMKeyFile", kRequired, "<file>", "PEM file with the certificate and its key"}},
      {"connection", {0, "sslPEMKeyPassword", kRequired, "<password>", "password of the key"}},
      {"connection", {0, "sslCRLFile", kRequired, "", ""}},
      {"connection",
       {0, "sslAllowInvalidCertificates", kNone, "", "accept certificates of unknown authorities"}},
      {"connection",
       {0, "sslAllowInvalidHostnames", kNone, "", "accept certificates of other hosts"}},
      {"connection", {0, "sslFIPSMode", kNone, "", ""}},
      {"connection", {0, "tlsInsecure", kNone, "", "accept any certificate"}},
      {"connection", {'u', "username", kRequired, "<username>", "username for authentication"}},
      {"connection", {'p', "password", kRequired, "<password>", "password for authentication"}},
      {"connection",
       {0, "authenticationDatabase", kRequired, "<database>",
        "database that holds the user's credentials"}},
      {"connection",
       {0, "authenticationMechanism", kRequired, "<mechanism>", "authentication mechanism to use"}},
      {"connection", {0, "awsSessionToken", kRequired, "<token>", "session token of AWS"}},
      {"connection", {0, "gssapiServiceName", kRequired, "<name>", "service name of GSSAPI"}},
      {"connection", {0, "gssapiHostName", kRequired, "", ""}},
      {"connection",
       {0, "readPreference", kRequired, "<mode>", "which members of a replica set to read from"}},
  };
  return kEntries;
}

}  // namespace

Result<Options> parse_options(std::span<const std::string> arguments) {
  std::vector<OptionDefinition> definitions;
  for (const OptionEntry& entry : entries()) definitions.push_back(entry.definition);
  GM_ASSIGN(GivenArguments given, parse_arguments(definitions, arguments));

  Options options;
  for (const GivenOption& option : given.options) {
    const OptionEntry& entry =
        entries()[static_cast<size_t>(option.definition - definitions.data())];
    if (entry.apply == nullptr) {
      GM_TRY(options.connection.set(entry.definition.long_name, option.value));
      continue;
    }
    GM_TRY(entry.apply(options, option.value));
  }
  for (std::string& positional : given.positionals) {
    if (command_line::is_connection_string(positional)) {
      GM_TRY(options.connection.set("uri", positional));
    } else if (!positional.empty()) {
      options.positionals.push_back(std::move(positional));
    }
  }
  if (command_line::is_connection_string(options.store.string())) {
    return fail(ErrorCode::kFailedToParse,
                "--store takes the folder of a store; give a connection string without --store");
  }
  if (!options.store.empty() && options.connection.given()) {
    return fail(
        ErrorCode::kFailedToParse,
        "illegal argument combination: cannot specify --store and a connection to a server");
  }
  auto concern = WriteConcern::parse(options.write_concern_text);
  if (!concern)
    return fail(std::move(concern).error().with_context("error parsing --writeConcern"));
  options.write_concern = std::move(concern).value();
  return options;
}

std::string help_text() {
  std::string text =
      "Usage:\n"
      "  gridfiles --store <folder> <options> <command> <filename or _id>\n"
      "  gridfiles <options> <connection-string> <command> <filename or _id>\n"
      "\n"
      "Manipulate gridfs files using the command line, as mongofiles does, in a "
      "gridmount store\n(even while it is mounted or served) or on any MongoDB server (without "
      "--store: "
      "localhost).\n"
      "\n"
      "Possible commands include:\n";
  for (const Command& command : commands()) {
    std::string name(command.name);
    name.resize(10, ' ');
    text += "\t" + name + "- " + std::string(command.description) + "\n";
  }
  constexpr size_t kDescriptionColumn = 46;
  std::string_view group;
  for (const OptionEntry& entry : entries()) {
    if (entry.definition.description.empty()) continue;
    if (entry.group != group) text += "\n" + std::string(entry.group) + " options:\n";
    group = entry.group;
    const OptionDefinition& definition = entry.definition;
    std::string line = definition.short_name != 0 ? "  " : "      ";
    line += definition.display_name();
    if (definition.argument != Argument::kNone) line += "=" + std::string(definition.value_name);
    line.resize(std::max(line.size() + 1, kDescriptionColumn), ' ');
    text += line + std::string(definition.description) + "\n";
  }
  return text;
}

}  // namespace gridmount::tools
