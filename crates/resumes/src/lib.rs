//! resumes
