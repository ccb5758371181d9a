import { onTestFinished, vi } from 'vitest';

/**
 * Fakes Web Animations, which happy-dom lacks, until the test ends. Returns the animations that are not
 * cancelled, with their elements.
 */
export function fakeAnimations(): Map<Animation, Element> {
  const running = new Map<Animation, Element>();
  vi.stubGlobal('CSS', { supports: () => true });
  onTestFinished(() => {
    Reflect.deleteProperty(Element.prototype, 'animate');
  });
  Element.prototype.animate = function animate() {
    const animation = { cancel: () => running.delete(animation) } as unknown as Animation;
    running.set(animation, this);
    return animation;
  };
  return running;
}
