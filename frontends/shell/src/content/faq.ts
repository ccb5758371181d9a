export const faq: readonly { title: string; content: string }[] = [
  {
    title: 'What solutions do you offer?',
    content:
      'Twelve building blocks, from threat detection and alerts to device health and analytics, put together for six kinds of places: shops, banks, factories, roads, cities, and offices and homes.',
  },
  {
    title: 'Does it work with the cameras and systems we have?',
    content:
      'Yes. We integrate with the cameras, recorders and access systems that you run today; nothing that works has to be replaced.',
  },
  {
    title: 'Cloud or on-premise?',
    content:
      'Either. The analysis runs with a cloud provider, or on edge devices on your premises when your video must not leave them.',
  },
  {
    title: 'Can it be customised for our industry?',
    content:
      'It has to be. Models, rules and alerts are set per industry and assigned per camera, and we train new models where your scenes ask for it.',
  },
  {
    title: 'What are the technical requirements?',
    content:
      'IP cameras, or analog CCTV with an encoder; a stable network; and power where an edge device is to stand.',
  },
];
