import { useEffect } from "preact/hooks";
import { changePassword, type Who } from "../api";
import { Field, Form, needed } from "../ui/Form";
import { Mark } from "../ui/Mark";

/** A one-time password lets nobody further than to a new one. */
export function NewPassword({ who, onChanged }: { who: Who; onChanged: (who: Who) => void }) {
  useEffect(() => {
    document.title = "New password · Catchment";
  }, []);
  const check = (values: Record<string, string>) => ({
    ...needed(values, "current", "new", "again"),
    ...(values.new !== values.again ? { again: "The two differ" } : {}),
  });
  return (
    <main class="sign-in">
      <section class="card">
        <h1><Mark /> A password of your own</h1>
        <p class="quiet">{who.name}, the password that you were given is good for one time. Choose your own.</p>
        <Form
          initial={{ current: "", new: "", again: "" }}
          action="Change the password"
          check={check}
          onSubmit={async (values) => onChanged(await changePassword(values.current!, values.new!))}
        >
          {/* Password managers keep a secret under a name. */}
          <input type="text" name="username" autocomplete="username" value={who.name} hidden />
          <Field name="current" label="The password you were given" type="password" />
          <Field name="new" label="New password" type="password" hint="At least twelve characters" />
          <Field name="again" label="New password again" type="password" />
        </Form>
      </section>
    </main>
  );
}
