//! The C library's memory: when freed blocks go back to the system.

/// From this size on a block is mapped for itself and goes back when it is freed, in bytes. The memory of one password hash
/// is larger (19 MiB), and what answers and bodies are copied through is smaller.
pub const MAPPED_BYTES_MIN: usize = 8 << 20;

/// Memory that a thread's heap keeps at its end once it was freed, in bytes. With the 16 MiB that glibc arrives at by itself,
/// 400 slow readers left 190 MiB in the heaps of threads, and with this 20; a long list takes ten page faults more.
const KEPT_BYTES_MAX: i32 = 1 << 20;

/// Gives memory back that was freed. glibc does so by itself only at the end of its heap, and 2,560 connections that came
/// and went left 22 MiB of it below.
pub fn give_back() {
    #[cfg(all(target_os = "linux", target_env = "gnu"))]
    #[allow(unsafe_code, reason = "malloc_trim has no safe wrapper")]
    // It takes no pointer, may be called by any thread at any time, and moves nothing that is in use.
    unsafe {
        libc::malloc_trim(0);
    }
}

/// Makes large blocks go back as soon as they are freed, and the ends of heaps soon. By itself glibc keeps blocks of a size that was freed once, for each
/// thread that had one: 250 wrong passwords left 1.2 GiB. For a server, before it starts its threads.
pub fn return_large_blocks() {
    #[cfg(all(target_os = "linux", target_env = "gnu"))]
    #[allow(unsafe_code, reason = "mallopt has no safe wrapper")]
    // They take no pointer and change where later blocks lie.
    unsafe {
        libc::mallopt(libc::M_MMAP_THRESHOLD, MAPPED_BYTES_MIN as i32);
        libc::mallopt(libc::M_TRIM_THRESHOLD, KEPT_BYTES_MAX);
    }
}
