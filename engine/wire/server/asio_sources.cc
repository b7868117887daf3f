// The implementation of Asio. This file compiles it once, so that the files that include Asio's
// headers do not (ASIO_SEPARATE_COMPILATION).
#include <asio/impl/src.hpp>
