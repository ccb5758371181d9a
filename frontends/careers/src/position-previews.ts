import careers from './pictures/careers.jpg';
import ai from './pictures/positions/ai-intern.jpg';
import backend from './pictures/positions/backend-intern.jpg';
import businessDevelopment from './pictures/positions/business-development-intern.jpg';
import cloudEngineering from './pictures/positions/cloud-engineering-intern.jpg';
import computerVision from './pictures/positions/computer-vision-intern.jpg';
import dataAnnotationAnalytics from './pictures/positions/data-annotation-analytics-intern.jpg';
import frontend from './pictures/positions/frontend-intern.jpg';
import fullStack from './pictures/positions/full-stack-intern.jpg';
import marketing from './pictures/positions/marketing-intern.jpg';
import videoEditing from './pictures/positions/video-editing-intern.jpg';

/** Addresses of the pictures that previews of positions show, by slug: `pictures/draw.ts` draws them. */
const previews: Readonly<Record<string, string>> = {
  'marketing-intern': marketing,
  'video-editing-intern': videoEditing,
  'computer-vision-intern': computerVision,
  'data-annotation-analytics-intern': dataAnnotationAnalytics,
  'business-development-intern': businessDevelopment,
  'ai-intern': ai,
  'backend-intern': backend,
  'frontend-intern': frontend,
  'full-stack-intern': fullStack,
  'cloud-engineering-intern': cloudEngineering,
};

/** What a preview of a position shows; of one that was not drawn yet, the picture of all. */
export function previewOf(slug: string): string {
  return previews[slug] ?? careers;
}
