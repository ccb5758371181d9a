/** The internships that are open. */
export const positions: readonly string[] = [
  'Marketing Intern',
  'Video Editing Intern',
  'Computer Vision Intern',
  'Data Annotation/Analytics Intern',
  'Business Development Intern',
  'AI Intern',
  'Backend Intern',
  'Frontend Intern',
  'Full Stack Intern',
  'Cloud Engineering Intern',
];
