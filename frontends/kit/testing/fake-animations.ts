import { onTestFinished, vi } from 'vitest';

/**
 * Stands in for the browser's Web Animations, which the tests' DOM has none of, until the test is over. Returns those that
 * are not cancelled, as what is animated.
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
