// What the API tells, by the names that pages use.
import type { Schemas } from "./api";

export type Alert = Schemas["AlertSummary"];
export type AlertDetail = Schemas["AlertDetail"];
export type AuditEntry = Schemas["AuditEntry"];
export type Component = Schemas["Component"];
export type Device = Schemas["Device"];
export type Mapping = Schemas["Mapping"];
export type NodeStatus = Schemas["NodeStatus"];
export type RatePoint = Schemas["RatePoint"];
export type Readings = Schemas["Readings"];
export type Rule = Schemas["Rule"];
export type Sensor = Schemas["KnownSensor"];
export type SensorType = Schemas["SensorType"];
export type SiteHealth = Schemas["SiteHealth"];
export type StreamState = Schemas["StreamState"];
export type Totals = Schemas["Totals"];
export type Twin = Schemas["Twin"];
export type TwinFeed = Schemas["TwinFeed"];
export type TwinType = Schemas["TwinType"];
