/** Icons of the console: strokes on a grid of 20 by 20. They are decoration: each stands beside a word or in a labelled button. */
function icon(path: string) {
  return ({ size = 18 }: { size?: number }) => (
    <svg
      width={size}
      height={size}
      viewBox="0 0 20 20"
      fill="none"
      stroke="currentColor"
      strokeWidth="1.6"
      strokeLinecap="round"
      strokeLinejoin="round"
      aria-hidden="true"
    >
      <path d={path} />
    </svg>
  );
}

function circle(x: number, y: number, radius: number): string {
  const width = 2 * radius;
  return `M${x - radius} ${y}a${radius} ${radius} 0 1 0 ${width} 0 ${radius} ${radius} 0 1 0-${width} 0`;
}

export const TodayIcon = icon(
  `${circle(10, 10, 3.2)}M10 2.5v1.8M10 15.7v1.8M2.5 10h1.8M15.7 10h1.8M4.7 4.7 6 6M14 14l1.3 1.3M15.3 4.7 14 6M6 14l-1.3 1.3`,
);
export const OrdersIcon = icon('M4.5 3.5h11v13l-2.2-1.4-1.7 1.4-1.6-1.4-1.6 1.4-1.7-1.4-2.2 1.4zM7.5 7.5h5M7.5 10.8h5');
export const StaysIcon = icon('M2.5 15.5v-10M2.5 12.5h15v3M17.5 12.5v-2a2 2 0 0 0-2-2H8.5v4M5.5 8.3v.1');
export const CalendarIcon = icon('M3.5 5.5h13v11h-13zM3.5 9h13M7 3.5v4M13 3.5v4M7 12.5h.1M10 12.5h.1M13 12.5h.1');
export const PartnersIcon = icon(
  'M7.5 12.5 12.5 7.5M8.7 6.2l2-2a3.4 3.4 0 0 1 4.8 4.8l-2 2M11.3 13.8l-2 2A3.4 3.4 0 0 1 4.5 11l2-2',
);
export const MenuIcon = icon('M5.5 3v4.5a2 2 0 0 0 4 0V3M7.5 9.5V17M7.5 3v4M14.5 17v-5h-2V6.5c0-2 .8-3.5 2-3.5z');
export const AuditIcon = icon('M4 4.5h12M4 8.2h12M4 11.9h5M11.5 13.5l2 2 3.5-4M4 15.5h4');
export const DeliveriesIcon = icon('M17 3 9 11M17 3l-5.2 14-2.8-6-6-2.8z');
export const PeopleIcon = icon(
  `${circle(7.8, 6.8, 2.8)}M2.8 16.2a5 5 0 0 1 10 0M12.8 4.2a2.8 2.8 0 0 1 0 5.2M15 11.8a5 5 0 0 1 2.4 4.4`,
);
export const SettingsIcon = icon(
  `${circle(12.5, 6.5, 2)}${circle(7.5, 13.5, 2)}M3.5 6.5h7M14.5 6.5h2M3.5 13.5h2M9.5 13.5h7`,
);
export const SearchIcon = icon(`${circle(9, 9, 5)}M13 13l3.5 3.5`);
export const MoreIcon = icon(`${circle(4.5, 10, 0.9)}${circle(10, 10, 0.9)}${circle(15.5, 10, 0.9)}`);
export const CheckIcon = icon('m4.5 10.5 3.5 3.5 7.5-8');
export const AlertIcon = icon('M10 3.5 17.5 16.5h-15zM10 8.5v3.5M10 14.2v.1');
export const SoundIcon = icon('M4 8v4h2.5L10 15V5L6.5 8zM13 7.5a3.5 3.5 0 0 1 0 5M15.2 5.3a6.6 6.6 0 0 1 0 9.4');
export const MutedIcon = icon('M4 8v4h2.5L10 15V5L6.5 8zM13.5 8l4 4M17.5 8l-4 4');
export const FullScreenIcon = icon('M7.5 3.5h-4v4M12.5 3.5h4v4M7.5 16.5h-4v-4M12.5 16.5h4v-4');
export const PrintIcon = icon('M6 7.5v-4h8v4M6 14.5H3.5v-7h13v7H14M6 12h8v4.5H6z');
export const PlusIcon = icon('M10 4.5v11M4.5 10h11');
export const CopyIcon = icon('M7.5 7.5h9v9h-9zM4.5 12.5h-1v-9h9v1');
export const SignOutIcon = icon('M8 3.5H3.5v13H8M12.5 6.5 16 10l-3.5 3.5M16 10H8');
export const DownloadIcon = icon('M10 3.5v9M6.5 9.5 10 13l3.5-3.5M3.5 16.5h13');
export const BackIcon = icon('m12 5-5 5 5 5');
export const ChevronIcon = icon('m8 5 5 5-5 5');
export const PauseIcon = icon('M7.5 4.5v11M12.5 4.5v11');
