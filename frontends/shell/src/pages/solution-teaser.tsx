import * as paths from '@site/kit/paths.ts';
import { Picture } from '@site/kit/picture.tsx';
import { Link } from '@site/kit/router.ts';
import type { Solution } from '../content/solutions.ts';
import { solutionPicture } from '../scenes/solution-pictures.ts';

export function SolutionTeaser({ solution: { id, title, description } }: { solution: Solution }) {
  return (
    <>
      <Picture {...solutionPicture(id)} alt="" className="mb-2 max-w-80" />
      <h3 className="text-subheading">
        <Link to={paths.solution(id)} className="inline-flex min-h-11 items-center hover:underline">
          {title}
        </Link>
      </h3>
      <p className="text-ink-2">{description}</p>
    </>
  );
}
