#include "tools/gridstore/documents/import_command.h"

#include <CLI/CLI.hpp>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "command_line/connection_string.h"
#include "command_line/progress.h"
#include "command_line/store_argument.h"
#include "command_line/store_opening.h"
#include "engine/base/counted.h"
#include "engine/batch_insert.h"
#include "engine/bson/builder.h"
#include "engine/local/open_store.h"
#include "engine/system/memory.h"
#include "engine/wire/commands/schema_change.h"
#include "tools/gridstore/documents/batched_writes.h"
#include "tools/gridstore/documents/document_input.h"
#include "tools/gridstore/documents/namespace_argument.h"
#include "tools/gridstore/dump/archive_flag.h"
#include "tools/gridstore/dump/input_file.h"
#include "tools/gridstore/message.h"
#include "tools/gridstore/store_argument.h"

namespace gridmount::tools {

namespace {

// The limit for the failures that are printed. Further failures are only counted.
constexpr uint64_t kFailuresPrintedMax = 10;

struct ImportOptions {
  StoreArgument store;
  std::string ns;  // DB.COLLECTION
  std::string file = kStandardStream;
  std::string type = "json";
  bool json_array = false;
  bool header_line = false;
  std::vector<std::string> fields;
  bool ignore_blanks = false;
  std::string mode = "insert";
  bool drop = false;
  bool create = false;
  bool stop_on_error = false;
  bool quiet = false;

  bool is_csv() const { return type == "csv"; }
};

Status check(const ImportOptions& options) {
  if (options.create && options.store.is_deployment()) {
    return fail(ErrorCode::kBadValue, "--create is for stores in folders");
  }
  if (options.is_csv()) {
    if (options.json_array) {
      return fail(ErrorCode::kBadValue, "--json-array does not go together with --type csv");
    }
    if (options.header_line == !options.fields.empty()) {
      return fail(ErrorCode::kBadValue,
                  options.header_line
                      ? "--headerline does not go together with --fields"
                      : "--type csv needs --headerline, or the names of the columns in --fields");
    }
    return {};
  }
  if (options.header_line || !options.fields.empty() || options.ignore_blanks) {
    return fail(ErrorCode::kBadValue, std::string(options.header_line       ? "--headerline"
                                                  : !options.fields.empty() ? "--fields"
                                                                            : "--ignore-blanks") +
                                          " is for --type csv");
  }
  return {};
}

// Fails for the collections of users and for the server's own collections, which import must not
// write.
Status check_may_be_written(const engine::Namespace& ns) {
  GM_TRY(wire::check_writable_name(ns));
  return wire::check_not_of_users(ns, "cannot import into ");
}

class Import {
 public:
  // All arguments must outlive this object.
  Import(const ImportOptions& options, const engine::Namespace& ns, const InputText& text,
         engine::Store& store)
      : options_(options),
        ns_(ns),
        text_(text),
        store_(store),
        collection_(store.database(ns.database)->collection(ns.collection)),
        writes_(store, actions()) {}
  Import(const Import&) = delete;
  Import& operator=(const Import&) = delete;

  uint64_t imported() const { return imported_; }
  uint64_t failures() const { return failures_; }

  // Reads all of the input. The documents that were written before an error stay. If the input has
  // an error, the documents before the error are written too.
  Status run(DocumentInput& input) {
    if (options_.drop) GM_TRY(drop());
    const Status done = add_all(input);
    // If both fail, the first error is returned.
    const Status durable = store_.make_durable();
    return done ? durable : done;
  }

 private:
  BatchedWrites<uint64_t>::Actions actions() {
    BatchedWrites<uint64_t>::Actions actions;
    actions.write = [this](engine::Transaction& transaction, uint64_t, bson::View document) {
      return write(transaction, document);
    };
    auto* const batches = dynamic_cast<engine::BatchInserter*>(collection_.get());
    if (batches != nullptr && !is_upsert()) {
      actions.write_all = [batches](engine::Transaction& transaction, uint64_t,
                                    std::span<const bson::View> documents, size_t& written) {
        return batches->insert_all(transaction, documents, written);
      };
    }
    actions.refused = [this](uint64_t line, const Error& error) { return refused(line, error); };
    actions.written = [this](uint64_t) { ++imported_; };
    return actions;
  }

  bool is_upsert() const { return options_.mode == "upsert"; }

  Status drop() {
    GM_ASSIGN(const std::unique_ptr<engine::Transaction> transaction, store_.begin());
    const std::shared_ptr<engine::Database> database = store_.database(ns_.database);
    GM_ASSIGN(const bool exists, database->exists(*transaction, ns_.collection));
    if (!exists) return {};
    GM_TRY(database->drop(*transaction, ns_.collection));
    return transaction->commit();
  }

  Status add_all(DocumentInput& input) {
    while (true) {
      const Result<std::optional<ReadDocument>> next = input.next();
      if (!next || !*next) {
        GM_TRY(writes_.flush());
        return next ? Status() : fail(next.error());
      }
      const ReadDocument& read = **next;
      if (read.document) {
        GM_TRY(add(read.line, *read.document));
        continue;
      }
      // This failure ends the import, so the documents before it must be written first.
      if (options_.stop_on_error) GM_TRY(writes_.flush());
      GM_TRY(refused(read.line, read.document.error()));
    }
  }

  // Adds the document, with a new _id if it has none: BatchInserter::insert_all() needs an _id.
  Status add(uint64_t line, bson::View document) {
    if (document.find("_id")) return writes_.add(line, document);
    bson::Builder with_id;
    with_id.append("_id", bson::ObjectId::generate()).append_all(document);
    return writes_.add(line, std::move(with_id).finish());
  }

  Status write(engine::Transaction& transaction, bson::View document) {
    if (is_upsert()) {
      bson::Builder filter;
      filter.open_document("_id").append("$eq", *document.find("_id")).close();
      engine::UpdateOptions update;
      update.upsert = true;
      GM_TRY(collection_->update(transaction, std::move(filter).finish(), document, update));
      return {};
    }
    engine::InsertOptions insert;
    insert.keep_empty_timestamps = true;
    GM_TRY(collection_->insert(transaction, document, insert));
    return {};
  }

  Status refused(uint64_t line, const Error& error) {
    ++failures_;
    const Error placed = Error(error).with_context(text_.place(line));
    if (options_.stop_on_error) return fail(placed);
    if (failures_ <= kFailuresPrintedMax) print_message(placed.message());
    return {};
  }

  const ImportOptions& options_;
  const engine::Namespace& ns_;
  const InputText& text_;
  engine::Store& store_;
  const std::unique_ptr<engine::Collection> collection_;
  BatchedWrites<uint64_t> writes_;  // the tag is the line of the document
  uint64_t imported_ = 0;
  uint64_t failures_ = 0;
};

Result<std::unique_ptr<DocumentInput>> open_input(const ImportOptions& options, InputText& text) {
  if (!options.is_csv()) return json_input(text, options.json_array);
  return csv_input(text, options.fields, options.ignore_blanks);
}

Result<StoreInUse> open_store(const ImportOptions& options) {
  local::OpenOptions open_options;
  open_options.create = options.create;
  Result<StoreInUse> opened = open_argument(options.store, open_options);
  if (!opened && opened.error().code() == ErrorCode::kStoreLocked &&
      !command_line::is_socket_missing(options.store.folder())) {
    const std::string socket = command_line::socket_path(options.store.folder()).string();
    return fail(opened.error().code(), opened.error().message() + ", or import into " +
                                           command_line::uri_of_socket(socket));
  }
  if (!opened && !options.create) {
    return fail(command_line::with_create_advice(opened.error(), "gridstore import"));
  }
  return opened;
}

// Prints the numbers of documents and failures, even if an error has ended the import.
void print_result(const ImportOptions& options, const Import& import, bool is_complete) {
  if (import.failures() > kFailuresPrintedMax && !options.stop_on_error) {
    print_message(counted(import.failures() - kFailuresPrintedMax, "more failure"));
  }
  if (options.quiet && is_complete && import.failures() == 0) return;
  print_message("imported " + counted(import.imported(), "document") + " into " + options.ns +
                "; " + counted(import.failures(), "failure"));
}

Result<ExitStatus> import_documents(const ImportOptions& options) {
  GM_TRY(check(options));
  GM_ASSIGN(const engine::Namespace ns, namespace_argument(options.ns));
  GM_TRY(check_may_be_written(ns));
  GM_ASSIGN(const std::unique_ptr<InputFile> file, options.file == kStandardStream
                                                       ? InputFile::from_stdin(false)
                                                       : InputFile::open(options.file, false));
  Progress progress("", options.quiet);
  if (options.file != kStandardStream) progress.expect(known_file_size(options.file));
  file->show(progress);
  InputText text(*file);
  GM_ASSIGN(const std::unique_ptr<DocumentInput> input, open_input(options, text));
  system::tune_allocator();
  GM_ASSIGN(const StoreInUse opened, open_store(options));
  Import import(options, ns, text, *opened.store);
  const Status done = import.run(*input);
  if (!done) print_message(done.error().message());
  print_result(options, import, done.has_value());
  if (!done) {
    print_message("the import is not complete");
    return exit_status_of(done.error().code());
  }
  return import.failures() > 0 ? ExitStatus::kFailure : ExitStatus::kOk;
}

ExitStatus run_import(const ImportOptions& options) {
  const Result<ExitStatus> status = import_documents(options);
  return status ? *status : print_error(status.error());
}

}  // namespace

Subcommand add_import(CLI::App& app) {
  const auto options = std::make_shared<ImportOptions>();
  CLI::App* const command = app.add_subcommand("import",
                                               "Inserts documents from Extended JSON or CSV, like "
                                               "mongoimport; into a store in a folder only "
                                               "while it is not in use");
  add_store_or_deployment(*command, options->store);
  command->add_option("DB.COLLECTION", options->ns, "the database and its collection")
      ->type_name("")
      ->required();
  command->add_flag("--create", options->create, "create the store if it does not exist");
  command->add_option("--file", options->file, "the file to read; default: stdin")
      ->type_name("FILE");
  command
      ->add_option("--type", options->type,
                   "json (the default): documents in Extended JSON, with or without line ends "
                   "between them; or csv")
      ->type_name("TYPE")
      ->check(CLI::IsMember({"json", "csv"}).description(""));
  command->add_flag("--json-array", options->json_array, "the documents are in one array");
  command->add_flag("--headerline", options->header_line,
                    "csv: the first line has the names of the fields");
  command
      ->add_option("--fields", options->fields,
                   "csv: the names of the fields, separated by commas; a.b is a path")
      ->type_name("NAMES")
      ->delimiter(',')
      ->allow_extra_args(false);
  command->add_flag("--ignore-blanks", options->ignore_blanks, "csv: leave out empty fields");
  command
      ->add_option("--mode", options->mode,
                   "insert (the default); or upsert, which replaces documents with the same _id")
      ->type_name("MODE")
      ->check(CLI::IsMember({"insert", "upsert"}).description(""));
  command->add_flag("--drop", options->drop, "first drop the collection");
  command->add_flag("--stop-on-error", options->stop_on_error, "end at the first failure");
  command->add_flag("--quiet", options->quiet, "print only failures");
  return {command, [options] { return run_import(*options); },
          R"(  gridstore import ~/media.gfs media.things --file things.json --mode upsert
  gridstore import mongodb://localhost media.cities --type csv --headerline --file cities.csv
)"};
}

}  // namespace gridmount::tools
