#include "engine/base/error.h"

#include <utility>

#include "engine/base/opening_error.h"

namespace gridmount {
namespace {

constexpr std::pair<ErrorCode, std::string_view> kNames[] = {
    {ErrorCode::kInternalError, "InternalError"},
    {ErrorCode::kBadValue, "BadValue"},
    {ErrorCode::kNoSuchKey, "NoSuchKey"},
    {ErrorCode::kUnknownError, "UnknownError"},
    {ErrorCode::kFailedToParse, "FailedToParse"},
    {ErrorCode::kUnauthorized, "Unauthorized"},
    {ErrorCode::kTypeMismatch, "TypeMismatch"},
    {ErrorCode::kOverflow, "Overflow"},
    {ErrorCode::kInvalidLength, "InvalidLength"},
    {ErrorCode::kIllegalOperation, "IllegalOperation"},
    {ErrorCode::kInvalidBson, "InvalidBSON"},
    {ErrorCode::kNamespaceNotFound, "NamespaceNotFound"},
    {ErrorCode::kIndexNotFound, "IndexNotFound"},
    {ErrorCode::kPathNotViable, "PathNotViable"},
    {ErrorCode::kConflictingUpdateOperators, "ConflictingUpdateOperators"},
    {ErrorCode::kCursorNotFound, "CursorNotFound"},
    {ErrorCode::kNamespaceExists, "NamespaceExists"},
    {ErrorCode::kMaxTimeMsExpired, "MaxTimeMSExpired"},
    {ErrorCode::kDollarPrefixedFieldName, "DollarPrefixedFieldName"},
    {ErrorCode::kInvalidIdField, "InvalidIdField"},
    {ErrorCode::kNotSingleValueField, "NotSingleValueField"},
    {ErrorCode::kEmptyFieldName, "EmptyFieldName"},
    {ErrorCode::kDottedFieldName, "DottedFieldName"},
    {ErrorCode::kImmutableField, "ImmutableField"},
    {ErrorCode::kCannotCreateIndex, "CannotCreateIndex"},
    {ErrorCode::kIndexAlreadyExists, "IndexAlreadyExists"},
    {ErrorCode::kInvalidOptions, "InvalidOptions"},
    {ErrorCode::kInvalidNamespace, "InvalidNamespace"},
    {ErrorCode::kIndexOptionsConflict, "IndexOptionsConflict"},
    {ErrorCode::kIndexKeySpecsConflict, "IndexKeySpecsConflict"},
    {ErrorCode::kOperationFailed, "OperationFailed"},
    {ErrorCode::kDbPathInUse, "DBPathInUse"},
    {ErrorCode::kUnsupportedFormat, "UnsupportedFormat"},
    {ErrorCode::kCannotBackfillArray, "CannotBackfillArray"},
    {ErrorCode::kNotExactValueField, "NotExactValueField"},
    {ErrorCode::kCommandNotSupported, "CommandNotSupported"},
    {ErrorCode::kDocumentValidationFailure, "DocumentValidationFailure"},
    {ErrorCode::kCommandNotSupportedOnView, "CommandNotSupportedOnView"},
    {ErrorCode::kInvalidPipelineOperator, "InvalidPipelineOperator"},
    {ErrorCode::kCannotIndexParallelArrays, "CannotIndexParallelArrays"},
    {ErrorCode::kCannotBuildIndexKeys, "CannotBuildIndexKeys"},
    {ErrorCode::kInvalidIndexSpecificationOption, "InvalidIndexSpecificationOption"},
    {ErrorCode::kNonExistentPath, "NonExistentPath"},
    {ErrorCode::kTransactionTooLarge, "TransactionTooLarge"},
    {ErrorCode::kQueryExceededMemoryLimit, "QueryExceededMemoryLimitNoDiskUseAllowed"},
    {ErrorCode::kDataCorruptionDetected, "DataCorruptionDetected"},
    {ErrorCode::kDuplicateKey, "DuplicateKey"},
    {ErrorCode::kBsonObjectTooLarge, "BSONObjectTooLarge"},
    {ErrorCode::kInterrupted, "Interrupted"},
    // Some of the codes below have no constant in error.h. The files that use them have one, or use
    // the number.
    {ErrorCode{5}, "GraphContainsCycle"},
    {ErrorCode{6}, "HostUnreachable"},
    {ErrorCode{11}, "UserNotFound"},
    {ErrorCode{17}, "ProtocolError"},
    {ErrorCode::kAuthenticationFailed, "AuthenticationFailed"},
    {ErrorCode{31}, "RoleNotFound"},
    {ErrorCode{59}, "CommandNotFound"},
    {ErrorCode{64}, "WriteConcernFailed"},
    {ErrorCode{76}, "NoReplicationEnabled"},
    {ErrorCode{123}, "NotAReplicaSet"},
    {ErrorCode{125}, "CommandFailed"},
    {ErrorCode{136}, "CappedPositionLost"},
    {ErrorCode::kExceededMemoryLimit, "ExceededMemoryLimit"},
    {ErrorCode{159}, "DurationOverflow"},
    {ErrorCode{165}, "ViewDepthLimitExceeded"},
    {ErrorCode{175}, "QueryPlanKilled"},
    {ErrorCode{181}, "AmbiguousIndexKeyPattern"},
    {ErrorCode{185}, "ClientMetadataDocumentTooLarge"},
    {ErrorCode{186}, "ClientMetadataCannotBeMutated"},
    {ErrorCode::kQueryFeatureNotAllowed, "QueryFeatureNotAllowed"},
    {ErrorCode{232}, "MaxSubPipelineDepthExceeded"},
    {ErrorCode::kConversionFailure, "ConversionFailure"},
    {ErrorCode{261}, "TooManyLogicalSessions"},
    {ErrorCode{291}, "NoQueryExecutionPlans"},
    {ErrorCode{322}, "APIVersionError"},
    {ErrorCode::kApiStrictError, "APIStrictError"},
    {ErrorCode{334}, "MechanismUnavailable"},
    {ErrorCode{352}, "UnsupportedOpQueryCommand"},
    {ErrorCode{10003}, "CannotGrowDocumentInCappedNamespace"},
    {ErrorCode::kInterruptedAtShutdown, "InterruptedAtShutdown"},
    {ErrorCode::kCursorInUse, "CursorInUse"},
    {ErrorCode{13113}, "MergeStageNoMatchingDocument"},
    {ErrorCode::kOutOfDiskSpace, "OutOfDiskSpace"},
    {ErrorCode::kStoreNotFound, "StoreNotFound"},
    {ErrorCode::kNotAStore, "NotAStore"},
    {ErrorCode::kStoreFormatTooNew, "StoreFormatTooNew"},
    {ErrorCode::kStoreLocked, "StoreLocked"},
    {ErrorCode::kStoreReadOnly, "StoreReadOnly"},
    {ErrorCode::kPermissionDenied, "PermissionDenied"},
    {ErrorCode::kStoreDamaged, "StoreDamaged"},
    {ErrorCode::kWritesRefused, "WritesRefused"},
    {ErrorCode::kIoError, "IoError"},
    {kFileSystemUnfit, "FileSystemUnfit"},
    {ErrorCode{161}, "IncompatibleCollationVersion"},
    {ErrorCode{167}, "OptionNotSupportedOnView"},
};

}  // namespace

std::string error_code_name(ErrorCode code) {
  for (const auto& [known, name] : kNames) {
    if (known == code) return std::string(name);
  }
  return "Location" + std::to_string(static_cast<int32_t>(code));
}

}  // namespace gridmount
