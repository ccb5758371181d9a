"""What Schemathesis does not send."""

import schemathesis


@schemathesis.hook
def filter_case(_, case):
    """Neither what a robot sends, who fills in the field that people do not see and is told that all is well, nor an empty key,
    which is none."""
    is_robot = isinstance(case.body, dict) and "website" in case.body
    return not is_robot and (case.headers or {}).get("Idempotency-Key") != ""
