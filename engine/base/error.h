// Errors as values, for every layer.
//
// An Error carries a MongoDB error code (or a code of the embedded store or of a layer above, see
// ErrorCode) and one sentence that names the object, what happened to it and the cause. Lower
// layers return errors and never log them. The program at the edge logs or prints each failure
// once.
//
// Thread-safety: an Error is a value. The functions are pure.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <tl/expected.hpp>
#include <utility>
#include <vector>

namespace gridmount {

// Numbers and names are MongoDB's (src/mongo/base/error_codes.yml), except those at the end of the
// list. So the wire server passes the codes on unchanged. MongoDB has no names for some of its
// codes, for example 17217. We have chosen the names of these constants. The enumeration is open:
// gridfs/ defines codes from kFirstGridFsCode on, and an error of a server keeps a code that is not
// in this list.
enum class ErrorCode : int32_t {
  kInternalError = 1,
  kBadValue = 2,
  kNoSuchKey = 4,
  kHostUnreachable = 6,
  kUnknownError = 8,
  kFailedToParse = 9,
  kUnsupportedFormat = 12,
  kUnauthorized = 13,
  kTypeMismatch = 14,
  kOverflow = 15,
  kInvalidLength = 16,
  kAuthenticationFailed = 18,
  kIllegalOperation = 20,
  kInvalidBson = 22,
  kNamespaceNotFound = 26,
  kIndexNotFound = 27,
  kPathNotViable = 28,
  kNonExistentPath = 29,
  kCannotBackfillArray = 34,
  kConflictingUpdateOperators = 40,
  kCursorNotFound = 43,
  kNamespaceExists = 48,
  kMaxTimeMsExpired = 50,
  kDollarPrefixedFieldName = 52,
  kInvalidIdField = 53,
  kNotSingleValueField = 54,
  kEmptyFieldName = 56,
  kDottedFieldName = 57,
  kImmutableField = 66,
  kCannotCreateIndex = 67,
  kIndexAlreadyExists = 68,
  kInvalidOptions = 72,
  kInvalidNamespace = 73,
  kIndexOptionsConflict = 85,
  kIndexKeySpecsConflict = 86,
  kOperationFailed = 96,
  kDbPathInUse = 98,
  kNotExactValueField = 111,
  kCommandNotSupported = 115,
  kDocumentValidationFailure = 121,
  kExceededMemoryLimit = 146,
  kCommandNotSupportedOnView = 166,
  kInvalidPipelineOperator = 168,
  kCannotIndexParallelArrays = 171,
  kInvalidIndexSpecificationOption = 197,
  kCannotBuildIndexKeys = 201,
  kQueryFeatureNotAllowed = 224,
  kConversionFailure = 241,
  kTransactionTooLarge = 257,
  kQueryExceededMemoryLimit = 292,
  kApiStrictError = 323,
  kDataCorruptionDetected = 361,
  kDuplicateKey = 11000,
  kBsonObjectTooLarge = 10334,
  kInterruptedAtShutdown = 11600,
  kDistinctTooLarge = 17217,
  kUpdatedDocumentTooLarge = 17419,
  kUpsertedDocumentTooLarge = 17420,
  kInterrupted = 11601,
  kCursorInUse = 12051,
  kOutOfDiskSpace = 14031,
  kUnknownField = 40415,

  // These codes are not MongoDB's. The embedded store reports them, and no MongoDB server does.
  kStoreNotFound = 90001,      // no store at the path
  kNotAStore = 90002,          // something else is at the path
  kStoreFormatTooNew = 90003,  // written by a newer program
  kStoreLocked = 90004,        // another process owns it; the message names its pid if it is known
  kStoreReadOnly = 90005,      // the call must write, but the store can only be read
  kPermissionDenied = 90006,   // the operating system refused access to the store's files
  kStoreDamaged = 90007,       // the store's files contradict their format
  kWritesRefused = 90008,      // an earlier sync failed, or a file was replaced; reopen
  kIoError = 90009,            // the device reported an error

  kFirstGridFsCode = 100000,
};

// Returns the code's name in MongoDB's documentation, such as "BadValue", or the name of a code of
// the embedded store. For a code without a name, and for a code that only other servers report,
// returns "Location<code>".
std::string error_code_name(ErrorCode code);

class Error {
 public:
  Error(ErrorCode code, std::string message) : code_(code), message_(std::move(message)) {}

  ErrorCode code() const { return code_; }
  const std::string& message() const { return message_; }

  // The BSON bytes of the additional fields that a server reports with this error: keyPattern and
  // keyValue with DuplicateKey, errInfo with DocumentValidationFailure. Empty if there are none.
  const std::vector<uint8_t>& details() const { return details_; }
  Error&& with_details(std::vector<uint8_t> bson_bytes) && {
    details_ = std::move(bson_bytes);
    return std::move(*this);
  }

  // Returns the same error with "<context>: " before the message. A layer that knows the object
  // adds the object's name in this way.
  Error&& with_context(std::string_view context) && {
    message_.insert(0, std::string(context) + ": ");
    return std::move(*this);
  }

 private:
  ErrorCode code_;
  std::string message_;
  std::vector<uint8_t> details_;
};

template <typename T>
class [[nodiscard]] Result : public tl::expected<T, Error> {
 public:
  using tl::expected<T, Error>::expected;
};

using Status = Result<void>;

// Makes the error for a return statement: `return fail(ErrorCode::kBadValue, "...")` in any
// function that returns a Result.
inline tl::unexpected<Error> fail(ErrorCode code, std::string message) {
  return tl::unexpected<Error>(Error(code, std::move(message)));
}
inline tl::unexpected<Error> fail(Error error) {
  return tl::unexpected<Error>(std::move(error));
}

// GM_TRY(expression): if the Result of the expression has an error, returns the error from the
// enclosing function. GM_ASSIGN(declaration, expression): does the same; if there is no error,
// assigns the value to the declaration.
#define GM_CONCAT_INNER(a, b) a##b
#define GM_CONCAT(a, b) GM_CONCAT_INNER(a, b)
#define GM_TRY(expression)                                    \
  do {                                                        \
    if (auto gm_status = (expression); !gm_status)            \
      return ::gridmount::fail(std::move(gm_status).error()); \
  } while (false)
#define GM_ASSIGN_INNER(temporary, declaration, expression)               \
  auto temporary = (expression);                                          \
  if (!temporary) return ::gridmount::fail(std::move(temporary).error()); \
  declaration = std::move(temporary).value()
#define GM_ASSIGN(declaration, expression) \
  GM_ASSIGN_INNER(GM_CONCAT(gm_result_, __LINE__), declaration, expression)

}  // namespace gridmount
