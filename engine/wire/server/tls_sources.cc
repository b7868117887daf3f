// The TLS part of Asio's implementation; see asio_sources.cc.
#include <asio/ssl/impl/src.hpp>
