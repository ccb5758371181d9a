// What strings may become scripts or markup (Trusted Types), for those that pass plain ones: the bundler's loaders, and React.
// Articles have a policy of their own.
{
  const only =
    (pattern, origin = '') =>
    text =>
      pattern.test(text.replace(origin, '')) ? text : null;

  window.trustedTypes?.createPolicy('default', {
    /** Files of this site, below its folders of scripts. */
    createScriptURL: only(/^\/(assets|remotes)(\/[\w-][\w.-]*)+(\?\d+)?$/, location.origin),
    /** Text without a tag; and what React makes each `script` element of. */
    createHTML: only(/^([^<]*|<script><.script>)$/),
    /** Structured data, which is no script: JavaScript ends at the first colon. */
    createScript: only(/^{"@context":/),
  });
}
