import accessControl from './access-control.svg';
import activityAnalytics from './activity-analytics.svg';
import advancedThreatDetection from './advanced-threat-detection.svg';
import customAiModels from './custom-ai-models.svg';
import dataProtection from './data-protection.svg';
import deploymentOptions from './deployment-options.svg';
import deviceHealthCheck from './device-health-check.svg';
import mobileAppServices from './mobile-app-services.svg';
import networkSecurity from './network-security.svg';
import type { Drawing } from './scenes.ts';
import smartAlertSystem from './smart-alert-system.svg';
import visualSurveillanceAnalytics from './visual-surveillance-analytics.svg';
import webAiDashboard from './web-ai-dashboard.svg';

const pictures: Readonly<Record<string, string>> = {
  'advanced-threat-detection': advancedThreatDetection,
  'visual-surveillance-analytics': visualSurveillanceAnalytics,
  'smart-alert-system': smartAlertSystem,
  'mobile-app-services': mobileAppServices,
  'web-ai-dashboard': webAiDashboard,
  'device-health-check': deviceHealthCheck,
  'deployment-options': deploymentOptions,
  'custom-ai-models': customAiModels,
  'activity-analytics': activityAnalytics,
  'data-protection': dataProtection,
  'access-control': accessControl,
  'network-security': networkSecurity,
};

export function solutionPicture(id: string): Drawing {
  return { src: pictures[id] ?? '', width: 480, height: 320 };
}
