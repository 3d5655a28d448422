//! tollgate-gateway
