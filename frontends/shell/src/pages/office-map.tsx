import { brand } from '@site/kit/brand.ts';
import { Button } from '@site/kit/button.tsx';
import { useState } from 'react';

const { map, directionsUrl } = brand.address;
const MAP_MARGIN_DEGREES = 0.01;

/** Loads on request only, so that the map's provider does not learn of every visitor. */
export function OfficeMap() {
  const [isShown, setIsShown] = useState(false);
  return (
    <div>
      {isShown ? (
        <iframe
          src={mapAddress()}
          title="Map of our office"
          className="h-104 w-full border border-line"
        />
      ) : (
        <div className="grid min-h-104 place-items-center border border-line bg-sunk p-6 text-center noscript:hidden">
          <div>
            <p className="mx-auto mb-5 max-w-lead text-ink-2">
              The map comes from OpenStreetMap, which then sees your network address.
            </p>
            <Button variant="secondary" onClick={() => setIsShown(true)}>
              Show map
            </Button>
          </div>
        </div>
      )}
      <a
        href={directionsUrl}
        target="_blank"
        rel="noopener"
        className="mt-4 inline-flex min-h-11 items-center underline"
      >
        Get Directions
      </a>
    </div>
  );
}

/** https://wiki.openstreetmap.org/wiki/Export */
function mapAddress(): string {
  const { latitude, longitude } = map;
  const corners = [-MAP_MARGIN_DEGREES, MAP_MARGIN_DEGREES].map(margin => [
    longitude + margin,
    latitude + margin,
  ]);
  const query = new URLSearchParams({
    bbox: corners.join(),
    layer: 'mapnik',
    marker: `${latitude},${longitude}`,
  });
  return `https://www.openstreetmap.org/export/embed.html?${query}`;
}
