// Default policy of Trusted Types: decides which plain strings may become scripts or markup. Only the bundler's loaders
// and React pass such strings. Articles have a policy of their own.
{
  const only =
    (pattern, origin = '') =>
    text =>
      pattern.test(text.replace(origin, '')) ? text : null;

  window.trustedTypes?.createPolicy('default', {
    /** Files in the script folders of this site. */
    createScriptURL: only(/^\/(assets|remotes)(\/[\w-][\w.-]*)+(\?\d+)?$/, location.origin),
    /** Text without tags, and the markup from which React creates `script` elements. */
    createHTML: only(/^([^<]*|<script><.script>)$/),
    /** Structured data (JSON-LD). It cannot run, because its first colon is a syntax error in JavaScript. */
    createScript: only(/^{"@context":/),
  });
}
