{{/* Whether vendors find their keys where the operator puts them: a slip on either side leaves a vendor out without a word. */}}

{{/* Where the built-in vendors look, as JSON. */}}
{{- define "signalbox.vendorVariables" -}}
{{- list "OPENAI_API_KEY" "ANTHROPIC_API_KEY" "GEMINI_API_KEY" "XAI_API_KEY" "OPENAI_COMPATIBLE_API_KEY" | toJson -}}
{{- end -}}

{{/* Where those of `config.vendors` look, as JSON: vendor -> variables, of which one is enough. */}}
{{- define "signalbox.namedVariables" -}}
{{- $named := dict -}}
{{- range $name, $vendor := include "signalbox.section" (list . "vendors") | fromJson -}}
  {{- $source := ($vendor | default dict).api_key | default dict -}}
  {{- with $source.env }}{{ $_ := set $named $name (kindIs "string" . | ternary (list .) .) }}{{ end -}}
{{- end -}}
{{- toJson $named -}}
{{- end -}}

{{- define "signalbox.checkVendors" -}}
{{- $named := include "signalbox.namedVariables" .root | fromJson -}}
{{- include "signalbox.checkVendorKeys" (dict "root" .root "plan" .plan "named" $named) -}}
{{- include "signalbox.checkNamedVariables" (dict "root" .root "plan" .plan "named" $named) -}}
{{- end -}}

{{/* Each key is one that a vendor looks for: (dict "root" $ "plan" PLAN "named" MAP). */}}
{{- define "signalbox.checkVendorKeys" -}}
{{- $keys := .root.Values.vendorKeys -}}
{{- include "signalbox.checkTwice" (dict "plan" .plan "at" "vendorKeys" "items" $keys "field" "env") -}}
{{- $owned := include "signalbox.ownVariables" . | fromJson -}}
{{- $builtin := include "signalbox.vendorVariables" . | fromJsonArray -}}
{{- $known := $builtin -}}
{{- range .named }}{{ $known = concat $known . }}{{ end -}}
{{- range $keys -}}
  {{- if or (hasKey $owned .env) (hasPrefix "SIGNALBOX_" .env) (has .env (list "PATH" "HOME")) -}}
    {{- include "signalbox.refuse" (list $.plan (printf "vendorKeys: %s is not a vendor's key but a variable with a meaning of its own; name another, as in OPENAI_API_KEY" .env)) -}}
  {{- else if not (has .env $known) -}}
    {{- include "signalbox.refuse" (list $.plan (printf "vendorKeys: no vendor looks for its key in %s; give one of %s, or name it in config.vendors.<name>.api_key.env" .env (join ", " $builtin))) -}}
  {{- end -}}
{{- end -}}
{{- end -}}

{{/* Each variable that `config.vendors` names is there, as far as can be seen: (dict "root" $ "plan" PLAN "named" MAP). */}}
{{- define "signalbox.checkNamedVariables" -}}
{{- $adapter := get .plan.deployments (.plan.owners.adapter | default "") | default dict -}}
{{- $vendors := include "signalbox.section" (list .root "vendors") | fromJson -}}
{{- $given := list -}}
{{- range .root.Values.vendorKeys }}{{ $given = append $given .env }}{{ end -}}
{{- range $adapter.extraEnv }}{{ $given = append $given .name }}{{ end -}}
{{- if and $adapter (not $adapter.extraEnvFrom) -}}
  {{- range $vendor, $variables := .named -}}
    {{- $missing := true -}}
    {{- range $variables }}{{ if has . $given }}{{ $missing = false }}{{ end }}{{ end -}}
    {{- if and $missing (not (get $vendors $vendor).simulate) -}}
      {{- include "signalbox.refuse" (list $.plan (printf "config.vendors.%s.api_key.env: nothing gives adapters %s; add it to vendorKeys" $vendor (join " or " $variables))) -}}
    {{- end -}}
  {{- end -}}
{{- end -}}
{{- end -}}
