//! Runs side by side in every form.
