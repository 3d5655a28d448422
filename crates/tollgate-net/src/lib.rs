//! tollgate-net
