// SQLite as a document store: one table with the document as JSON text and its id as the primary
// key, and indexes on generated columns. It uses WAL. synchronous is NORMAL, and FULL for durable
// transactions.

#include <sqlite3.h>

#include <filesystem>
#include <stdexcept>
#include <string>
#include <vector>

#include "tests/bench/engine/system.h"

namespace gridmount::bench {
namespace {

// A prepared statement. bind() and step() throw on errors. reset() prepares it for the next use.
class Statement {
 public:
  Statement(sqlite3* db, const std::string& sql) : db_(db) {
    check(sqlite3_prepare_v3(db, sql.c_str(), -1, SQLITE_PREPARE_PERSISTENT, &statement_, nullptr));
  }
  Statement(const Statement&) = delete;
  Statement& operator=(const Statement&) = delete;
  ~Statement() { sqlite3_finalize(statement_); }

  // Bound values must stay valid until reset().
  void bind(int at, const bson::ObjectId& id) {
    const bson::ObjectId::Bytes& bytes = id.bytes();
    check(sqlite3_bind_blob(statement_, at, bytes.data(), static_cast<int>(bytes.size()),
                            SQLITE_STATIC));
  }
  void bind(int at, std::string_view text) {
    check(sqlite3_bind_text(statement_, at, text.data(), static_cast<int>(text.size()),
                            SQLITE_STATIC));
  }
  void bind(int at, uint64_t number) {
    check(sqlite3_bind_int64(statement_, at, static_cast<sqlite3_int64>(number)));
  }
  void bind(int at, double number) { check(sqlite3_bind_double(statement_, at, number)); }

  // Returns true if there is a row.
  bool step() {
    const int code = sqlite3_step(statement_);
    if (code != SQLITE_ROW && code != SQLITE_DONE) check(code);
    return code == SQLITE_ROW;
  }
  std::string_view text() {
    const auto* const data = reinterpret_cast<const char*>(sqlite3_column_text(statement_, 0));
    return {data, static_cast<size_t>(sqlite3_column_bytes(statement_, 0))};
  }
  uint64_t number(int column = 0) {
    return static_cast<uint64_t>(sqlite3_column_int64(statement_, column));
  }
  void reset() { check(sqlite3_reset(statement_)); }

  void run() {
    step();
    reset();
  }

 private:
  void check(int code) {
    if (code != SQLITE_OK) throw std::runtime_error(std::string("SQLite: ") + sqlite3_errmsg(db_));
  }

  sqlite3* db_;
  sqlite3_stmt* statement_ = nullptr;
};

class Connection {
 public:
  explicit Connection(const std::filesystem::path& file) {
    const int code = sqlite3_open(file.c_str(), &db_);
    if (code != SQLITE_OK) throw std::runtime_error("SQLite cannot open " + file.string());
  }
  Connection(const Connection&) = delete;
  Connection& operator=(const Connection&) = delete;
  ~Connection() { sqlite3_close(db_); }

  sqlite3* get() const { return db_; }
  void run(const std::string& sql) {
    char* message = nullptr;
    if (sqlite3_exec(db_, sql.c_str(), nullptr, nullptr, &message) == SQLITE_OK) return;
    const std::string text = sql + ": " + (message == nullptr ? "failed" : message);
    sqlite3_free(message);
    throw std::runtime_error("SQLite: " + text);
  }

 private:
  sqlite3* db_ = nullptr;
};

class SqliteSystem final : public System {
 public:
  SqliteSystem(const std::filesystem::path& folder, const Documents& documents,
               const SystemOptions& options)
      : folder_(made(folder)), documents_(documents), db_(folder / "documents.sqlite") {
    db_.run("PRAGMA journal_mode = WAL");
    db_.run("PRAGMA synchronous = NORMAL");
    db_.run("PRAGMA wal_autocheckpoint = " + std::to_string(options.checkpoint_pages));
    // Like gridmount, SQLite reads through a mapping of the whole file, whose pages the kernel
    // caches.
    db_.run("PRAGMA mmap_size = 1099511627776");
    db_.run("PRAGMA cache_size = -" + std::to_string(options.sqlite_cache_mib * 1024));
    db_.run("PRAGMA temp_store = MEMORY");
    db_.run("CREATE TABLE documents (id BLOB PRIMARY KEY, document TEXT NOT NULL)");
    create_index("email");
    create_index("number");
    prepare();
    settle();
  }

  void prepare_insert(Slice numbers) override {
    prepared_.clear();
    for (uint64_t i = 0; i < numbers.count; ++i) {
      const auto n = static_cast<Number>(numbers.first + i);
      prepared_.push_back({Documents::id(n), documents_.json(n)});
    }
  }

  void insert(uint64_t per_transaction, bool durable) override {
    if (durable) db_.run("PRAGMA synchronous = FULL");
    for (size_t i = 0; i < prepared_.size();) {
      const size_t end = std::min<size_t>(prepared_.size(), i + per_transaction);
      // A single statement is a transaction by itself.
      const bool explicitly = per_transaction > 1;
      if (explicitly) begin_->run();
      for (; i < end; ++i) {
        insert_->bind(1, prepared_[i].id);
        insert_->bind(2, prepared_[i].json);
        insert_->run();
      }
      if (explicitly) commit_->run();
    }
    if (durable) db_.run("PRAGMA synchronous = NORMAL");
  }

  bool read_by_id(Number n, Reader& reader) override {
    const bson::ObjectId id = Documents::id(n);
    by_id_->bind(1, id);
    return read_all(*by_id_, reader) == 1;
  }

  bool read_by_email(Number n, Reader& reader) override {
    const std::string email = Documents::email(n);
    by_email_->bind(1, email);
    return read_all(*by_email_, reader) == 1;
  }

  uint64_t scan_numbers(Slice numbers, Reader& reader) override {
    by_number_->bind(1, numbers.first);
    by_number_->bind(2, numbers.first + numbers.count);
    return read_all(*by_number_, reader);
  }

  uint64_t count_amount_below(double amount) override {
    count_below_->bind(1, amount);
    count_below_->step();
    const uint64_t count = count_below_->number();
    count_below_->reset();
    return count;
  }

  uint64_t group_by_category(double amount_below) override {
    group_->bind(1, amount_below);
    uint64_t sum = 0;
    while (group_->step()) sum += group_->number(1) + group_->number(2);
    group_->reset();
    return sum;
  }

  bool increment_count(Number n) override {
    const bson::ObjectId id = Documents::id(n);
    increment_->bind(1, id);
    return change(*increment_);
  }

  bool set_text(Number n, std::string_view text) override {
    const bson::ObjectId id = Documents::id(n);
    set_text_->bind(1, text);
    set_text_->bind(2, id);
    return change(*set_text_);
  }

  bool remove(Number n) override {
    const bson::ObjectId id = Documents::id(n);
    remove_->bind(1, id);
    return change(*remove_);
  }

  void create_index(std::string_view field) override {
    const std::string name(field);
    db_.run("ALTER TABLE documents ADD COLUMN " + name + " AS (json_extract(document, '$." + name +
            "')) VIRTUAL");
    db_.run("CREATE INDEX by_" + name + " ON documents (" + name + ")");
  }

  void settle() override { db_.run("PRAGMA wal_checkpoint(TRUNCATE)"); }

  Footprint footprint() override {
    Statement count(db_.get(), "SELECT count(*) FROM documents");
    count.step();
    return {count.number(), bytes_on_disk(folder_)};
  }

 private:
  struct Prepared {
    bson::ObjectId id;
    std::string json;
  };

  static const std::filesystem::path& made(const std::filesystem::path& folder) {
    std::filesystem::create_directory(folder);
    return folder;
  }

  void prepare() {
    const auto statement = [this](const char* sql) {
      return std::make_unique<Statement>(db_.get(), sql);
    };
    begin_ = statement("BEGIN IMMEDIATE");
    commit_ = statement("COMMIT");
    insert_ = statement("INSERT INTO documents (id, document) VALUES (?, ?)");
    by_id_ = statement("SELECT document FROM documents WHERE id = ?");
    by_email_ = statement("SELECT document FROM documents WHERE email = ?");
    by_number_ = statement(
        "SELECT document FROM documents WHERE number >= ? AND number < ? ORDER BY number");
    group_ = statement(
        "SELECT json_extract(document, '$.category'), COUNT(*), "
        "SUM(json_extract(document, '$.count')) FROM documents "
        "WHERE json_extract(document, '$.amount') < ? GROUP BY 1");
    count_below_ =
        statement("SELECT count(*) FROM documents WHERE json_extract(document, '$.amount') < ?");
    increment_ = statement(
        "UPDATE documents SET document = "
        "json_set(document, '$.count', json_extract(document, '$.count') + 1) WHERE id = ?");
    set_text_ =
        statement("UPDATE documents SET document = json_set(document, '$.text', ?) WHERE id = ?");
    remove_ = statement("DELETE FROM documents WHERE id = ?");
  }

  static uint64_t read_all(Statement& statement, Reader& reader) {
    uint64_t count = 0;
    while (statement.step()) {
      reader.take(statement.text());
      ++count;
    }
    statement.reset();
    return count;
  }

  bool change(Statement& statement) {
    statement.run();
    return sqlite3_changes(db_.get()) == 1;
  }

  const std::filesystem::path folder_;
  const Documents& documents_;
  Connection db_;
  // Must be destroyed before the connection.
  std::unique_ptr<Statement> begin_, commit_, insert_, by_id_, by_email_, by_number_, count_below_,
      group_, increment_, set_text_, remove_;
  std::vector<Prepared> prepared_;
};

}  // namespace

std::unique_ptr<System> make_sqlite(const std::filesystem::path& folder, const Documents& documents,
                                    const SystemOptions& options) {
  return std::make_unique<SqliteSystem>(folder, documents, options);
}

std::string sqlite_version() {
  return std::string("SQLite ") + sqlite3_libversion();
}

}  // namespace gridmount::bench
