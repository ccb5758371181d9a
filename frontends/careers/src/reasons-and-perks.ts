interface Reason {
  title: string;
  text: string;
}

export const reasons: readonly Reason[] = [
  {
    title: 'Work that is used',
    text: 'What you build runs at real sites within weeks, and somebody calls when it does not.',
  },
  {
    title: 'People with time',
    text: 'Every intern has a mentor with an hour a week in the calendar that is not moved.',
  },
  {
    title: 'Care for those we film',
    text: 'We say no to projects, too. Privacy is a requirement here, with tests.',
  },
];

export const perks: readonly Reason[] = [
  { title: 'Stipend', text: 'Paid monthly, because rent is.' },
  { title: 'Remote or Chennai', text: 'Choose per week, not per contract.' },
  { title: 'Flexible hours', text: 'Exams come first; tell us when.' },
  { title: 'A mentor', text: 'One person who answers for your learning.' },
  { title: 'Hardware', text: 'A laptop, and GPU time where the work needs it.' },
  { title: 'Learning budget', text: 'Books and courses that you choose.' },
  { title: 'Certificate and reference', text: 'Written by someone who read your work.' },
  { title: 'A way to stay', text: 'Good interns get an offer before they ask.' },
];
