// The subjects of schemas, where one has to be chosen.
import { API, get } from "./api";
import { useLoad } from "./load";

export function useSubjects(): string[] {
  const schemas = useLoad("schemas", (signal) => get<{ items: { subject: string }[] }>(`${API}/schemas`, {}, signal));
  return schemas.data?.items.map((each) => each.subject) ?? [];
}
