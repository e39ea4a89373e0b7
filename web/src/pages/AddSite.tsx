import { useState } from "preact/hooks";
import { API, post, type Schemas } from "../api";
import { Dialog } from "../ui/Dialog";
import { asNumber, Field, Form, named, numbers, type Values } from "../ui/Form";
import { Secret } from "../ui/Secret";

type Invitation = Schemas["NewInvitation"];

/** Hands out the one command that makes a machine a site of this centre. */
export function AddSite({ onClose }: { onClose: () => void }) {
  const [made, setMade] = useState<Invitation | null>(null);
  const invite = async (values: Values) =>
    setMade(await post<Invitation>(`${API}/sites/${encodeURIComponent(values.site!)}/invitation`, { hours: asNumber(values.hours) ?? 24 }));
  return (
    <Dialog title={made ? `Add ${made.site}` : "Add a site"} onClose={onClose} wide={Boolean(made)}>
      {made ? (
        <>
          <Secret label={`Run this on the machine of ${made.site}:`} text={made.command} />
          <p class="quiet">It works once, until {new Date(made.expires_at).toLocaleString("en-GB")}. The site shows here as soon as it has joined.</p>
          <div class="dialog-foot"><button type="button" class="primary" onClick={onClose}>Done</button></div>
        </>
      ) : (
        <Form
          initial={{ site: "", hours: "24" }}
          action="Make the command"
          onCancel={onClose}
          check={(values) => ({ ...named(values, "site"), ...numbers(values, "hours") })}
          onSubmit={invite}
        >
          <Field name="site" label="Name of the site" required hint="Such as oslo; it stands before all its streams and sensors" />
          <Field name="hours" label="Valid for, in hours" type="number" hint="The command holds a token that works once" />
        </Form>
      )}
    </Dialog>
  );
}
