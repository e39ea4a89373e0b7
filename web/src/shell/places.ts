// The pages, as the navigation lists them.
import type { ComponentType } from "preact";
import type { Scope } from "../api";
import type { Route } from "../router";
import { Alerts } from "../pages/Alerts";
import { Audit } from "../pages/Audit";
import { Components } from "../pages/Components";
import { DeadLetters } from "../pages/DeadLetters";
import { Lake } from "../pages/Lake";
import { Ledger } from "../pages/Ledger";
import { Overview } from "../pages/Overview";
import { Queries } from "../pages/Queries";
import { Rules } from "../pages/Rules";
import { Schemas } from "../pages/Schemas";
import { Sensors } from "../pages/Sensors";
import { Sites } from "../pages/Sites";
import { Twins } from "../pages/Twins";
import { Users } from "../pages/Users";

export interface Place {
  path: string;
  title: string;
  icon: string;
  scope: Scope;
  page: ComponentType<{ route: Route }>;
}

export interface Group {
  title: string;
  places: Place[];
}

/** The drawings are strokes in a box of 16 by 16. */
export const GROUPS: Group[] = [
  {
    title: "Now",
    places: [
      { path: "", title: "Overview", icon: "M2 9.5 8 3l6 6.5M4 8v5.5h8V8", scope: "status:read", page: Overview },
      { path: "alerts", title: "Alerts", icon: "M3.5 11.5h9L11.5 9V6.5a3.5 3.5 0 0 0-7 0V9zM6.8 14h2.4", scope: "alerts:read", page: Alerts },
      { path: "sites", title: "Sites and gateways", icon: "M8 14s4.5-4.2 4.5-7.5a4.5 4.5 0 0 0-9 0C3.5 9.8 8 14 8 14ZM8 8.2V5", scope: "status:read", page: Sites },
    ],
  },
  {
    title: "Data",
    places: [
      { path: "sensors", title: "Sensors and devices", icon: "M6.5 9.2V3.5a1.5 1.5 0 0 1 3 0v5.7a3 3 0 1 1-3 0ZM8 6v5", scope: "registry:read", page: Sensors },
      { path: "rules", title: "Rules", icon: "M2 5.5h12M2 13l3.5-5 3 3L14 3", scope: "rules:read", page: Rules },
      { path: "twins", title: "Twins", icon: "M2.5 2.5h7v7h-7zM6.5 9.5v4h7v-7h-4", scope: "twins:read", page: Twins },
      { path: "queries", title: "Queries", icon: "M2 3h4v3H2zM2 10h4v3H2zM10 6.5h4v3h-4zM6 4.5h2v3.5h2M6 11.5h2V8", scope: "queries:read", page: Queries },
      { path: "lake", title: "Lake", icon: "M2 5c2-1.6 4 1.6 6 0s4 1.6 6 0M2 8.5c2-1.6 4 1.6 6 0s4 1.6 6 0M2 12c2-1.6 4 1.6 6 0s4 1.6 6 0", scope: "data:read", page: Lake },
    ],
  },
  {
    title: "Flow",
    places: [
      { path: "ledger", title: "Ledger", icon: "M3 2.5h10v11H3zM5.5 5.5h5M5.5 8h5M5.5 10.5h3", scope: "ledger:read", page: Ledger },
      { path: "deadletters", title: "Dead letters", icon: "M2 4h12v8.5H2zM2 4l6 5 6-5", scope: "deadletter:read", page: DeadLetters },
      { path: "schemas", title: "Schemas", icon: "M6 2.5c-2 0-1 5-3 5.5 2 .5 1 5.5 3 5.5M10 2.5c2 0 1 5 3 5.5-2 .5-1 5.5-3 5.5", scope: "registry:read", page: Schemas },
    ],
  },
  {
    title: "System",
    places: [
      { path: "components", title: "Components", icon: "M2.5 2.5h4.5v4.5H2.5zM9 2.5h4.5v4.5H9zM2.5 9h4.5v4.5H2.5zM9 9h4.5v4.5H9z", scope: "status:read", page: Components },
      { path: "users", title: "Users and tokens", icon: "M8 7.5a2.5 2.5 0 1 0 0-5 2.5 2.5 0 0 0 0 5ZM3 13.5c0-2.8 2.2-4 5-4s5 1.2 5 4", scope: "users:write", page: Users },
      { path: "audit", title: "Audit", icon: "M8 14A6 6 0 1 0 8 2a6 6 0 0 0 0 12ZM8 4.5V8l2.5 1.5", scope: "audit:read", page: Audit },
    ],
  },
];
